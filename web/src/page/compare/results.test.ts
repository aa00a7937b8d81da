import { describe, expect, test } from "vitest";
import type { Num, Run } from "~/api/types";
import { column, lowerIsBetter, metricsOf, resultsAmong, summary } from "./results.ts";

const run = (id: string, loss: Num, more: Record<string, unknown> = {}): Run =>
  ({ id, name: id, metrics: { loss: { best: loss, min: loss, max: 9, last: loss, count: 3 }, ...more } }) as unknown as Run;
const runs = [run("a", 1), run("b", 3), run("c", 5, { epoch: {}, acc: {} }), run("d", null, { epoch: {}, acc: {} })];

describe("results", () => {
  test("mean and spread are those of a sample, and NaN is counted apart", () => {
    expect(summary([1, 3, null])).toEqual({ mean: 2, std: Math.SQRT2, n: 2, nan: 1 });
    expect(summary([4])).toEqual({ mean: 4, std: NaN, n: 1, nan: 0 });
    expect(summary([])).toMatchObject({ n: 0, nan: 0 });
    expect(summary([0.1, 0.1, 0.1])).toEqual({ mean: 0.1, std: 0, n: 3, nan: 0 }); // whose sum is not 0.3
  });

  test("a column has the best of its teams marked", () => {
    const teams = [[0, 1], [2], [3]].map((members, at) => ({ key: String(at), label: "", members }));
    expect(column(runs, teams, "loss", "best")).toEqual([
      { text: "2.0 ± 1.4", best: true, exact: { mean: 2, std: Math.SQRT2, n: 2 } }, { text: "5", best: false, exact: { mean: 5, std: NaN, n: 1 } }, { text: "NaN", best: false },
    ]);
    expect(column(runs, teams, "nothing", "best").map((cell) => cell.text)).toEqual(["", "", ""]);
  });

  test("what is better is what the server took for the best", () => {
    expect(lowerIsBetter(runs, "loss")).toBe(true);
    expect(lowerIsBetter(runs, "nothing")).toBe(false);
    const once = [0.3, 0.2].map((value, at) => run(String(at), 0, { "test/loss": { best: value, min: value, max: value, last: value, count: 1 } }));
    expect(lowerIsBetter(once, "test/loss")).toBe(true);
    expect(lowerIsBetter([{ ...once[0]!, goals: { "test/loss": "max" } }], "test/loss")).toBe(false);
    expect(metricsOf(runs)).toEqual(["loss", "acc", "epoch"]);
  });

  test("what was set is no result, though it was logged", () => {
    const properties = [{ key: "config.lr" }, { key: "code.loss" }];
    expect(resultsAmong(["loss", "lr", "train/lr", "epoch", "acc/epoch{split=test}"], properties)).toEqual(["loss", "train/lr"]);
  });
});
