import { expect, test } from "vitest";
import type { Evaluated } from "~/api/about";
import { byCheckpoint, metricsOf, tracks } from "./scores.ts";

const one = (step: number, evaluator: string, values: Record<string, unknown>, run = "r"): Evaluated => ({
  checkpoint: `/o/${step}.pt`, step, evaluator, state: "done", reason: "", values, found: null, started: null, ended: null, waited: null, took: null, task: "", run,
});
const all = [one(20, "test", { acc: 0.4, note: "x" }), one(10, "test", { acc: 0.2, loss: 2 }), one(10, "hard", { acc: 0.1 }), one(15, "test", { acc: 0.9 }, "other")];

test("metrics are named with their evaluator, the most common first", () => {
  expect(metricsOf(all)).toEqual(["test/acc", "hard/acc", "test/loss"]);
});

test("a metric is a line for each training, in the order of the steps, with the best marked", () => {
  const found = tracks(all, "test/acc", { metric: "test/acc", value: 0.4, checkpoint: "/o/20.pt", step: 20 });
  expect(found.map((track) => [track.run, track.x, track.y])).toEqual([["r", [10, 20], [0.2, 0.4]], ["other", [15], [0.9]]]);
  expect(found[0]!.dots.map((dot) => dot.look)).toEqual(["full", "best"]);
});

test("a checkpoint is one row with its evaluators, the last step first", () => {
  const found = byCheckpoint(all);
  expect(found.map((row) => row.step)).toEqual([20, 15, 10]);
  expect(Object.keys(found[2]!.evaluations)).toEqual(["test", "hard"]);
});
