import { expect, test } from "vitest";
import type { Run, RunsEvent } from "~/api/types";
import { changedRun } from "./change.ts";

const run = { id: "a", state: "running", metrics: { loss: { last: 1 }, old: { last: 2 } } } as unknown as Run;
const event = (changed: unknown[]): RunsEvent => ({ version: 1, new: [], changed, removed: [] }) as unknown as RunsEvent;

test("an event changes what it names, metrics one by one", () => {
  const found = changedRun(run, event([{ id: "a", state: "finished", metrics: { loss: { last: 0.5 }, acc: { last: 1 }, old: null } }]));
  expect(found.state).toBe("finished");
  expect(found.metrics).toEqual({ loss: { last: 0.5 }, acc: { last: 1 } });
  expect(run.metrics["old"]).toBeDefined();
});

test("an event of another run changes nothing", () => {
  expect(changedRun(run, event([{ id: "b", state: "failed" }]))).toBe(run);
});
