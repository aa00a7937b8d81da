import { isAbort } from "~/api/client";

/**
 * One question that is asked again and again, one at a time: who asks while an answer is on its way is answered by one
 * more behind it. Giving the first up instead would show nothing for as long as news come faster than answers.
 */
export class Asking<T> {
  #control: AbortController | undefined;
  #stale = false;
  #news: ((answer: T) => T)[] = []; // since it was asked

  constructor(
    private readonly ask: (signal: AbortSignal) => Promise<T>,
    private readonly told: (answer: T) => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  again(): void {
    if (this.#control) this.#stale = true;
    else void this.#look();
  }

  /** What has happened is done to the answer that is on its way, too: it may have been given before. */
  change(by: (answer: T) => T): void {
    if (this.#control) this.#news.push(by);
  }

  /** What is on its way is older than what is known now. */
  forget(): void {
    if (!this.#control) return;
    this.stop();
    this.again();
  }

  stop(): void {
    this.#control?.abort();
    this.#control = undefined;
    this.#stale = false;
  }

  async #look(): Promise<void> {
    const control = new AbortController();
    this.#control = control;
    this.#news = [];
    try {
      let answer: T = await this.ask(control.signal);
      if (!control.signal.aborted) {
        for (const by of this.#news) answer = by(answer);
        this.told(answer);
      }
    } catch (error) {
      if (!control.signal.aborted && !isAbort(error)) this.failed(error);
    }
    if (this.#control !== control) return;
    this.#control = undefined;
    if (!this.#stale) return;
    this.#stale = false;
    this.again();
  }
}
