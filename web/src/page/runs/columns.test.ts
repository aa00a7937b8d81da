import { expect, test } from "vitest";
import { column, usual, wanted } from "./columns.ts";

test("columns are named as people read them", () => {
  expect(column("config.optim.lr").title).toBe("optim.lr");
  expect(column("best.val/acc")).toMatchObject({ title: "val/acc best", kind: "number" });
  expect(column("spark:loss")).toMatchObject({ title: "loss", kind: "spark" });
  expect(column("constructor").kind).toBe("value");
});

test("what tells runs apart is shown first, and the epoch is no result", () => {
  const keys = {
    version: 1, looked_at: 3, fields: [],
    config: [{ key: "seed", runs: 3, values: 3 }, { key: "lr", runs: 3, values: 2 }, { key: "same", runs: 3, values: 1 }],
    metrics: [{ name: "epoch", runs: 3, goal: "max" as const }, { name: "loss", runs: 3, goal: "min" as const }],
  };
  expect(usual(keys)).toEqual(["state", "progress", "created", "spark:loss", "best.loss", "config.lr", "config.seed", "duration", "project"]);
  expect(wanted(usual(keys).map(column))).not.toContain("spark:loss");
  expect(wanted(usual(keys).map(column))).toContain("count.loss"); // so that no curve is asked for where there is none
  expect(usual(undefined)).toEqual(["state", "progress", "created", "duration", "project"]);
});
