import { describe, expect, test } from "vitest";
import type { Evaluated } from "~/api/about";
import { epochOf, fits, grouped, marksOn, scoresOn } from "./groups.ts";

describe("the charts of a run", () => {
  test("are grouped by what stands before the last slash, what people look at first before the rest", () => {
    const found = grouped(["zeta/b", "loss", "val/acc", "train/loss", "eval/test/acc", "epoch", "train/acc", "layers/10/x", "layers/9/x"]);
    expect(found.map((group) => [group.name, group.metrics])).toEqual([
      ["train", ["train/acc", "train/loss"]],
      ["val", ["val/acc"]],
      ["eval/test", ["eval/test/acc"]],
      ["", ["loss"]],
      ["layers/9", ["layers/9/x"]],
      ["layers/10", ["layers/10/x"]],
      ["zeta", ["zeta/b"]],
    ]);
  });
  test("have tags that may have slashes", () => {
    expect(grouped(['train/loss{of="a/b"}'])[0]!.name).toBe("train");
  });
  test("are those that have every word of the filter", () => {
    expect(fits("train/Loss", "loss tr")).toBe(true);
    expect(fits("train/loss", "loss val")).toBe(false);
    expect(fits("x", "")).toBe(true);
  });
});

test("scores of checkpoints are on the curves of the same last name", () => {
  const metrics = ["train/loss", "val/acc", "eval/test/acc", "eval/hard/top/acc", "eval/test/loss"];
  expect(scoresOn("val/acc", metrics).map((score) => score.metric)).toEqual(["eval/test/acc", "eval/hard/top/acc"]);
  expect(scoresOn("train/loss", metrics).map((score) => score.evaluator)).toEqual(["test"]);
  expect(scoresOn("eval/test/acc", metrics)).toEqual([]);
});

test("what an evaluator that has no score yet will say is marked on the training's first result", () => {
  const one = (evaluator: string, state: string): Evaluated => ({ evaluator, state, step: 5, checkpoint: "/o/5.pt", values: {} }) as unknown as Evaluated;
  const metrics = ["train/norm", "train/loss", "eval/test/acc", "epoch"];
  const told = [one("test", "pending"), one("slow", "pending"), one("mute", "done")];
  expect(marksOn("train/loss", metrics, told)).toEqual([{ metric: "eval/slow", evaluator: "slow", name: "" }]);
  expect(marksOn("train/norm", metrics, told)).toEqual([]);
  expect(marksOn("train/loss", metrics, undefined)).toEqual([]);
});

test("epochs are counted by the metric of that name, in a group or not", () => {
  expect(epochOf(["train/epoch", "epoch"])).toBe("epoch");
  expect(epochOf(["loss", "train/epoch"])).toBe("train/epoch");
  expect(epochOf(["epochs"])).toBeUndefined();
  expect(epochOf(["loss/value{split=test}", "loss/epoch{split=test}"])).toBe("loss/epoch{split=test}");
});

test("epochs of a metric are those that were logged with it", () => {
  const metrics = ["epoch", "acc/epoch{split=test}", "loss/epoch{split=test}", "loss/epoch{split=train}", "loss/value{split=train}"];
  expect(epochOf(metrics, "loss/value{split=train}")).toBe("loss/epoch{split=train}");
  expect(epochOf(metrics, "loss/value")).toBe("epoch");
  expect(epochOf(metrics, "lr")).toBe("epoch");
  expect(epochOf(metrics.slice(1), "lr")).toBe("acc/epoch{split=test}");
});
