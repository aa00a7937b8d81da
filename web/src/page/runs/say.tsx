import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { annotate } from "~/api/board";
import { ApiError } from "~/api/client";
import type { Said } from "~/api/types";
import { Dialog } from "~/part/dialog";
import { say } from "~/shell/toast";
import { plural } from "~/text/format";

/** Say the same of several runs, one after the other; what was refused is said, and the rest is done. */
export async function sayOf(runs: readonly string[], said: Said, done: string): Promise<void> {
  let failed: ApiError | undefined;
  let count = 0;
  for (const run of runs) {
    try {
      await annotate(run, said);
      count += 1;
    } catch (error) {
      failed = error instanceof ApiError ? error : new ApiError(0, String(error), "", "");
      if (failed.status === 401) return; // the dialog asks who we are
    }
  }
  if (failed) say(`${failed.message} (${count} of ${runs.length} done)`, true);
  else say(`${done}: ${plural(count, "run")}`);
}

export function TagDialog({ runs, known, onClose }: { runs: readonly string[]; known: readonly string[]; onClose: () => void }): JSX.Element {
  const [text, setText] = useState("");
  const words = text.split(/[\s,]+/).filter(Boolean);
  const act = async (said: Said, done: string): Promise<void> => {
    onClose();
    await sayOf(runs, said, done);
  };
  return (
    <Dialog title={`Tags of ${plural(runs.length, "run")}`} onClose={onClose} footer={
      <>
        <button type="button" class="button" disabled={words.length === 0} onClick={() => void act({ untag: words }, "Untagged")}>Remove</button>
        <button type="button" class="button primary" disabled={words.length === 0} onClick={() => void act({ tag: words }, "Tagged")}>Add</button>
      </>
    }>
      <label class="stack">Tags, with spaces between them
        <input class="field" autofocus value={text} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={(event) => event.key === "Enter" && words.length > 0 && void act({ tag: words }, "Tagged")} />
      </label>
      {known.length > 0 && <p class="row small pad-top">{known.slice(0, 20).map((tag) => <button type="button" class="tag" key={tag} onClick={() => setText(`${text} ${tag}`.trim())}>{tag}</button>)}</p>}
    </Dialog>
  );
}

export function NoteDialog({ runs, note, onClose }: { runs: readonly string[]; note: string; onClose: () => void }): JSX.Element {
  const [text, setText] = useState(note);
  const keep = async (): Promise<void> => {
    onClose();
    await sayOf(runs, { note: text }, "Noted");
  };
  return (
    <Dialog title={`A note on ${plural(runs.length, "run")}`} onClose={onClose} footer={<button type="button" class="button primary" onClick={() => void keep()}>Keep</button>}>
      <label class="stack">What one should know
        <textarea class="field" rows={6} autofocus value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {runs.length > 1 && <p class="small warn-text pad-top">It replaces the note of each of these runs.</p>}
    </Dialog>
  );
}
