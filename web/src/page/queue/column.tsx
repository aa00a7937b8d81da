import type { JSX } from "preact";
import type { TaskState } from "~/api/queue";
import { Meter } from "~/part/parts";
import type { End, Row } from "~/page/queue/rows";
import { useNow } from "~/page/run/head";
import { set } from "~/route/router";
import { clock, count, duration } from "~/text/format";

const EMPTY: Record<TaskState, string> = {
  queued: "Nothing waits.", checking: "", active: "Nothing runs.", paused: "Nothing is held.", failed: "Nothing has failed.", done: "Nothing is done yet.",
};

export interface ColumnProps {
  state: TaskState;
  total: number;
  rows: readonly Row[];
  chosen: ReadonlySet<string>;
  /** The one that is shown where there is room for one. */
  open: boolean;
  filtered: boolean;
  onChoose: (state: TaskState, id: string, shift: boolean) => void;
  onEvery: (state: TaskState, on: boolean) => void;
  onMore: () => void;
}

export function Column({ state, total, rows, chosen, open, filtered, onChoose, onEvery, onMore }: ColumnProps): JSX.Element {
  const now = useNow(state === "active" && rows.length > 0);
  const held = rows.filter((row) => chosen.has(row.task.id)).length;
  return (
    <section class={`card queue-column${open ? " open" : ""}`} aria-label={state}>
      <header>
        <input type="checkbox" aria-label={`all that are ${state}`} disabled={rows.length === 0} checked={held > 0 && held === rows.length}
          ref={(element) => { if (element) element.indeterminate = held > 0 && held < rows.length; }} onChange={(event) => onEvery(state, event.currentTarget.checked)} />
        <h2 class={`state ${state}`}>{state}</h2>
        <span class="count">{count(total)}</span>
      </header>
      <ul class="queue-tasks">
        {rows.map((row) => (
          <li key={row.task.id} class={chosen.has(row.task.id) ? "chosen" : undefined}>
            <input type="checkbox" aria-label={row.task.title} checked={chosen.has(row.task.id)} onClick={(event) => { event.preventDefault(); onChoose(state, row.task.id, event.shiftKey); }} />
            <div class="queue-task">
              <div class="queue-name">
                <button type="button" class="cut" title={row.task.title} onClick={() => set({ task: row.task.id }, true)}>{row.task.title}</button>
                {row.task.priority !== 0 && <span class="tag" title="priority">{row.task.priority > 0 ? "+" : ""}{row.task.priority}</span>}
              </div>
              {row.bar && <Meter share={row.bar.fraction} state={row.bar.state} />}
              {(row.started || row.host) && (
                <div class="muted small cut">{row.host}{row.started ? `, ${duration(Math.max(0, Math.round(now - row.started)))}` : ""}{row.bar?.eta ? `, ${duration(Math.round(row.bar.eta))} left` : ""}{(row.attempt ?? 1) > 1 && `, attempt ${row.attempt}`}</div>
              )}
              {row.end && <Ended state={state} {...row.end} />}
              {row.stalled && <div class="warn-text small">stalled: no step for long</div>}
              {row.why && <div class={`small why ${state === "active" ? "warn-text" : "muted"}`} title={row.why}>{row.why}</div>}
            </div>
          </li>
        ))}
      </ul>
      {rows.length === 0 && (filtered || total === 0) && <p class="muted small none-here">{filtered ? "None of this name." : EMPTY[state]}</p>}
      {!filtered && total > rows.length && rows.length > 0 && <button type="button" class="button plain more" onClick={onMore}>{count(total - rows.length)} more</button>}
    </section>
  );
}

/** Why it failed, in one line; and how long it took until when. */
function Ended({ state, reason, took, ended }: End & { state: TaskState }): JSX.Element {
  const times = [took === null ? "" : `took ${duration(took)}`, ended === null ? "" : `until ${clock(ended).slice(11, 16)}`].filter(Boolean).join(", ");
  return (
    <>
      {state === "failed" && reason && <div class="bad-text small cut" title={reason}>{reason}</div>}
      {times && <div class="muted small cut" title={ended === null ? undefined : clock(ended)}>{times}</div>}
    </>
  );
}
