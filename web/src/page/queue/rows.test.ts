import { expect, test } from "vitest";
import type { Now } from "~/api/now";
import type { QueueStatus, Task, TaskState } from "~/api/queue";
import { rowsOf } from "./rows.ts";

const task = (id: string, state: TaskState): Task => ({ id, name: id, queue: "q", state, title: id, priority: 0 });
const status = (running: unknown[], waiting: unknown[]): QueueStatus => ({ queue: "q", path: "", counts: {}, running, waiting, more: 0, strangers: [], sure: true }) as unknown as QueueStatus;

test("tasks are in the columns of their states, each once, what is over with the newest first", () => {
  const running = [{ task: task("a", "active"), host: "h", worker: "w", worker_state: "silent", attempt: 2, started: 5, remark: "", ranks: {} }];
  const found = rowsOf(status(running, [{ task: task("b", "queued"), why: "next" }, { task: task("c", "checking"), why: "check" }]), [task("d", "done"), task("e", "done"), task("b", "paused")], undefined);
  expect(found.active.map((row) => [row.task.id, row.why, row.attempt])).toEqual([["a", "its worker is silent", 2]]);
  expect(found.queued.map((row) => [row.task.id, row.why])).toEqual([["b", "next"]]);
  expect(found.checking[0]!.why).toBe("check");
  expect(found.done.map((row) => row.task.id)).toEqual(["e", "d"]);
  expect(found.paused).toEqual([]);
});

test("what runs has the progress of its run", () => {
  const running = [{ task: task("a", "active"), host: "h", worker: "w", worker_state: "alive", attempt: 1, started: 5, remark: "", ranks: { 0: "w", 1: "v" } }];
  const now = { runs: [{ id: "a", stalled: true, bars: [{ id: "1", state: "done" }, { id: "2", state: "running", fraction: 0.5 }] }] } as unknown as Now;
  const [row] = rowsOf(status(running, []), [], now).active;
  expect(row).toMatchObject({ bar: { id: "2", fraction: 0.5 }, stalled: true, host: "h, 2 ranks", why: "" });
});
