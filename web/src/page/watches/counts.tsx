import type { JSX } from "preact";
import { count } from "~/text/format";

export const ORDER = ["done", "running", "pending", "failed", "missed", "skipped", "void", "cancelled"] as const;
/** What each state means, for whoever points at it. */
export const MEANING: Record<string, string> = {
  done: "evaluated", running: "an evaluator works on it", pending: "it waits for a worker", failed: "the evaluator failed", missed: "it was gone before it could be read",
  skipped: "a rule of the watch left it out", void: "it was replaced before it was evaluated", cancelled: "somebody cancelled its task",
};

/** How the evaluations stand. With `chosen` each is a button that shows only those. */
export function Counts({ counts, chosen, onChoose }: { counts: Record<string, number>; chosen?: string; onChoose?: (state: string) => void }): JSX.Element {
  const all = [...ORDER.filter((state) => (counts[state] ?? 0) > 0), ...Object.keys(counts).filter((state) => !(ORDER as readonly string[]).includes(state) && counts[state]! > 0)];
  if (all.length === 0) return <p class="muted small">No checkpoint was found yet.</p>;
  return (
    <div class="watch-counts">
      {all.map((state) => {
        const inside = <><b>{count(counts[state]!)}</b> <span class={`state eval-${state}`}>{state}</span></>;
        return onChoose
          ? <button type="button" key={state} class="button" aria-pressed={chosen === state} title={MEANING[state]} onClick={() => onChoose(chosen === state ? "" : state)}>{inside}</button>
          : <span key={state} title={MEANING[state]}>{inside}</span>;
      })}
    </div>
  );
}
