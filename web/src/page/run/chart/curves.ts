/**
 * The series of one run. Charts say which of them they show; what several charts want within a moment is fetched in one
 * request. Each is held whole (thinned by the server) and, while a part is zoomed into, once more in that part.
 */
import { signal, type Signal } from "@preact/signals";
import { ApiError, get, isAbort } from "~/api/client";
import type { Num, SeriesList } from "~/api/types";
import type { Raw } from "~/chart/axis";
import { joined } from "~/chart/joined";
import type { Range } from "~/chart/line";
import { requests, wholeSteps, type Want } from "~/page/run/chart/asking";
import { toNumber } from "~/text/format";

export interface Curve {
  whole?: Raw;
  part?: { range: Range; raw: Raw };
}

export interface PointsEvent { run: string; metric: string; steps: number[]; values: Num[]; times: number[] }

const POINTS = 1000;
const AT_ONCE = 2; // requests: the server has two cores where we have looked
const SOON_MS = 8;

export class Curves {
  readonly error = signal<ApiError | undefined>(undefined);
  private readonly held = new Map<string, Signal<Curve>>();
  private readonly asked = new Map<string, string>(); // by metric: the range that is under way or there
  private wants: Want[] = [];
  private timer = 0;
  private running = 0;
  private line: ReturnType<typeof requests> = [];
  private readonly stop = new AbortController();

  constructor(private readonly run: string) {}

  close(): void {
    this.stop.abort();
    clearTimeout(this.timer);
  }

  of(metric: string): Signal<Curve> {
    let found = this.held.get(metric);
    if (!found) this.held.set(metric, (found = signal<Curve>({})));
    return found;
  }

  /** A chart shows this now; nothing is asked twice. */
  want(metric: string, range?: Range): void {
    const whole = range && wholeSteps(range);
    const key = whole ? whole.join("~") : "";
    const known = this.asked.get(`${metric}\n${whole ? "part" : "whole"}`);
    if (known === key) return;
    this.asked.set(`${metric}\n${whole ? "part" : "whole"}`, key);
    this.wants = this.wants.filter((one) => one.metric !== metric || !one.range !== !whole);
    this.wants.push({ metric, range: whole });
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.flush(), whole ? 120 : SOON_MS);
  }

  /** Points that were written just now. */
  add({ metric, steps, values, times }: PointsEvent): void {
    const one = this.held.get(metric);
    const whole = one?.peek().whole;
    if (!one || !whole) return;
    const numbers = values.map(toNumber);
    const next = joined(whole, steps, numbers, times);
    const part = one.peek().part;
    one.value = { whole: next, ...(part ? { part: grown(part, steps, numbers, times) } : {}) };
    if (next.steps.length > 3 * POINTS) this.again(metric); // long enough to be thinned anew
  }

  /** Ask once more for what may have been missed: all of these from their last steps on. */
  async catchUp(metrics: readonly string[]): Promise<void> {
    const known = metrics.filter((metric) => this.held.get(metric)?.peek().whole);
    if (known.length === 0) return;
    const first = Math.min(...known.map((metric) => this.of(metric).peek().whole!.steps.at(-1) ?? 0));
    try {
      for (const one of (await this.fetch(known, { first })).series) {
        if (one.steps.length > 0) this.add({ ...one, times: one.times ?? [] });
      }
    } catch {
      // the next point, or the next stream, brings it
    }
  }

  again(metric?: string): void {
    for (const name of metric ? [metric] : [...this.held.keys()]) {
      if (!this.held.get(name)?.peek().whole) continue;
      this.asked.delete(`${name}\nwhole`);
      this.want(name);
    }
  }

  private flush(): void {
    this.line.push(...requests(this.wants));
    this.wants = [];
    while (this.running < AT_ONCE && this.line.length > 0) void this.next();
  }

  private async next(): Promise<void> {
    const request = this.line.shift();
    if (!request) return;
    this.running += 1;
    const { metrics, range } = request;
    try {
      const found = await this.fetch(metrics, range ? { first: range[0] - 1, last: range[1] + 1 } : {});
      for (const metric of metrics) {
        const one = found.series.find((series) => series.metric === metric);
        this.take(metric, range, one ? { steps: one.steps, values: one.values.map(toNumber), times: one.times ?? undefined, count: one.count } : NONE);
      }
      this.error.value = undefined;
    } catch (error) {
      if (isAbort(error)) return;
      for (const metric of metrics) this.asked.delete(`${metric}\n${range ? "part" : "whole"}`);
      this.error.value = error instanceof ApiError ? error : new ApiError(0, String(error), "", "");
    } finally {
      this.running -= 1;
    }
    void this.next();
  }

  private take(metric: string, range: Range | undefined, raw: Raw): void {
    const one = this.of(metric);
    one.value = range ? { ...one.peek(), part: { range, raw } } : { ...one.peek(), whole: raw };
  }

  private fetch(metrics: readonly string[], more: Record<string, number>): Promise<SeriesList> {
    return get<SeriesList>("/series", { run: this.run, metric: metrics, points: POINTS, times: true, ...more }, this.stop.signal);
  }
}

const NONE: Raw = { steps: [], values: [], times: [], count: 0 };

function grown(part: NonNullable<Curve["part"]>, steps: readonly number[], values: readonly number[], times: readonly number[]): NonNullable<Curve["part"]> {
  const inside = steps.map((step, at) => ({ step, at })).filter(({ step }) => step >= part.range[0] && step <= part.range[1]);
  if (inside.length === 0) return part;
  const raw = joined(part.raw, inside.map(({ step }) => step), inside.map(({ at }) => values[at]!), inside.map(({ at }) => times[at]!));
  return { range: part.range, raw };
}
