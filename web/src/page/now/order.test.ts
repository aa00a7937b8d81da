import { expect, test } from "vitest";
import type { NowRun } from "~/api/now";
import { sorted, troubleOf } from "./order.ts";

const run = (id: string, state: string, more: Partial<NowRun> = {}): NowRun => ({ id, state, stalled: false, silence: null, step_seconds: null, reason: "", questions: 0, ...more }) as NowRun;

test("what is stalled or lost comes first, then what runs, then what ended", () => {
  const found = sorted([run("a", "running"), run("b", "lost"), run("c", "running", { stalled: true, silence: 9 }), run("d", "failed"), run("e", "running", { stalled: true, silence: 20 }), run("q", "queued"), run("w", "running", { stalled: true, questions: 1 })]);
  expect(found.trouble.map((one) => one.id)).toEqual(["e", "c", "b"]);
  expect(found.running.map((one) => one.id)).toEqual(["a", "w"]);
  expect(found.ended.map((one) => one.id)).toEqual(["d"]);
});

test("a trouble is said in words", () => {
  expect(troubleOf(run("a", "running", { stalled: true, silence: 90, step_seconds: 2 }), (n) => `${n}s`)).toBe("no step for 90s; a step takes 2s");
  expect(troubleOf(run("a", "lost"), String)).toBe("its process is gone and said nothing");
});
