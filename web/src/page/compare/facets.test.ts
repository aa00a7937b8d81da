import { expect, test } from "vitest";
import type { Run } from "~/api/types";
import { layout } from "./facets.ts";
import { differing, teams } from "./properties.ts";

const runs = [0.1, 0.2].flatMap((lr) => ["sgd", "adam"].flatMap((optim) => [0, 1].map((seed) => ({ id: `${lr}${optim}${seed}`, name: "", config: { lr, optim, seed } }) as unknown as Run)));
const properties = differing(runs);
const folded = teams(runs, properties, true);

test("rows, columns, colours and dashes follow the values", () => {
  const found = layout(folded, properties, { row: "config.lr", col: "", hue: "config.optim", dash: "config.optim" });
  expect(found.rows).toEqual(["lr = 0.1", "lr = 0.2"]);
  expect(found.panels.map((panel) => panel.teams.map(({ hue, dash }) => [hue, dash]))).toEqual([[[1, 1], [0, 0]], [[1, 1], [0, 0]]]);
  expect(found.hues).toEqual(["optim = adam", "optim = sgd"]);
});

test("without facets there is one panel and each has a colour of its own", () => {
  const found = layout(folded, properties, { row: "", col: "", hue: "", dash: "nothing" });
  expect(found.panels).toHaveLength(1);
  expect(found.panels[0]!.teams.map(({ hue }) => hue)).toEqual([0, 1, 2, 3]);
  expect(found.hues).toEqual([]);
});

test("every team is drawn exactly once", () => {
  const found = layout(folded, properties, { row: "config.optim", col: "config.lr", hue: "", dash: "" });
  expect(found.panels).toHaveLength(4);
  expect(found.panels.flatMap((panel) => panel.teams)).toHaveLength(folded.length);
});
