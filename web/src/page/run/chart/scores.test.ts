import { expect, test } from "vitest";
import type { Evaluated } from "~/api/about";
import { scored, within } from "./scores.ts";

const one = (step: number, state: string, values: Record<string, unknown> = {}, evaluator = "test"): Evaluated => ({
  checkpoint: `/out/step=${step}.pt`, step, evaluator, state, reason: state === "failed" ? "out of memory" : "", values, found: 5, started: null,
  ended: null, waited: null, took: null, task: "", run: "r",
});
const score = { metric: "eval/test/acc", evaluator: "test", name: "acc" };
const curve = { steps: [0, 100], values: [0, 1], count: 2 };

test("a score stands at its step and its value, one that is not there yet on the curve", () => {
  const all = [one(50, "failed"), one(10, "done", { acc: 0.3 }), one(20, "done", { acc: 0.4 }), one(30, "pending"), one(40, "done", { acc: 9 }, "other")];
  const found = scored(all, score, ["/out/step=20.pt"], curve, (step) => step);
  expect(found.x).toEqual([10, 20, 30, 50]);
  expect(found.y).toEqual([0.3, 0.4, 0.3, 0.5]);
  expect(found.dots.map((dot) => dot.look)).toEqual(["full", "best", "hollow", "cross"]);
  expect(found.dots[3]!.text).toBe("step=50.pt, failed: out of memory");
});

test("without a curve only scores that are there are shown, in the order of the axis", () => {
  const all = [one(10, "done", { acc: 0.3 }), one(20, "done", { acc: 0.4 }), one(30, "pending")];
  const found = scored(all, score, [], undefined, (step) => -step);
  expect(found.x).toEqual([-20, -10]);
  expect(found.y).toEqual([0.4, 0.3]);
});

test("a checkpoint is named from the directory that is watched", () => {
  expect(within("/work/out", "/work/out/first/step=5.pt")).toBe("first/step=5.pt");
  expect(within("/work/out/", "/work/out/step=5/")).toBe("step=5");
  expect(within("/work/out", "/work/outer/step=5.pt")).toBe("step=5.pt");
  expect(within("", "/work/out/step=5.pt")).toBe("step=5.pt");
});
