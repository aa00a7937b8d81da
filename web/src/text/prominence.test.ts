import { expect, test } from "vitest";
import { isResult, prominent } from "./prominence.ts";

test("losses and scores are results, norms and rates are not", () => {
  expect(["train/loss", "val/acc{top=5}", "eval/gsm8k/exact_match_score", "F1", "val/f1_macro", "mean_reward"].every(isResult)).toBe(true);
  expect(["layers/0/norm", "loss/grad_norm", "lr", "perf/mfu", "tokens_per_s", "memory"].some(isResult)).toBe(false);
});

test("what all runs have comes first, results before the rest", () => {
  const names = (given: [string, number][]): string[] => prominent(given.map(([name, runs]) => ({ name, runs }))).map((one) => one.name);
  expect(names([["layers/0/norm", 9], ["layers/1/norm", 9], ["train/loss", 9], ["val/acc", 7], ["eval/x/acc", 1]])).toEqual(["train/loss", "val/acc", "layers/0/norm", "layers/1/norm", "eval/x/acc"]);
  expect(names([])).toEqual([]);
});
