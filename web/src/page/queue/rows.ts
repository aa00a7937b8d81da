/** The tasks of a queue as rows of its columns. Pure. */
import type { Bar, Now } from "~/api/now";
import type { QueueStatus, Task, TaskState } from "~/api/queue";

export const STATES: readonly TaskState[] = ["queued", "checking", "active", "paused", "failed", "done"];

export interface Row {
  task: Task;
  /** Why it waits, or what is wrong with who runs it. */
  why: string;
  host?: string;
  worker?: string;
  attempt?: number;
  started?: number;
  bar?: Bar;
  stalled?: boolean;
  end?: End;
}

/** How a task that is over ended, as its run tells it. */
export interface End {
  reason: string;
  took: number | null;
  ended: number | null;
}

/** What is over is shown with the newest first; what waits in the order in which it is taken. */
export function rowsOf(status: QueueStatus, over: readonly Task[], now: Now | undefined, ends: ReadonlyMap<string, End> = new Map()): Record<TaskState, Row[]> {
  const found: Record<TaskState, Row[]> = { queued: [], checking: [], active: [], paused: [], failed: [], done: [] };
  const runs = new Map((now?.runs ?? []).map((run) => [run.id, run]));
  const there = new Set<string>();
  for (const { task, host, worker, worker_state, attempt, started, remark, ranks } of status.running) {
    const run = runs.get(task.id);
    const bar = run?.bars.find((one) => one.state === "running") ?? run?.bars[0];
    const silent = worker_state === "alive" || worker_state === "" ? "" : `its worker is ${worker_state}`;
    const row: Row = { task, why: remark || silent, host: hosts(host, ranks), worker, attempt, started, stalled: run?.stalled ?? false };
    if (bar) row.bar = bar;
    found[task.state].push(row);
    there.add(task.id);
  }
  for (const { task, why } of status.waiting) {
    if (there.has(task.id)) continue;
    there.add(task.id);
    found[task.state].push({ task, why });
  }
  for (const task of [...over].reverse()) {
    const end = ends.get(task.id);
    if (!there.has(task.id)) found[task.state].push({ task, why: "", ...(end ? { end } : {}) });
  }
  return found;
}

function hosts(host: string, ranks: Record<string, string>): string {
  const many = Object.keys(ranks).length;
  return many > 1 ? `${host}, ${many} ranks` : host;
}
