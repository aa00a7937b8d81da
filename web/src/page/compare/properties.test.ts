import { describe, expect, test } from "vitest";
import type { Run } from "~/api/types";
import { apart, brief, differing, distinct, endings, flatten, GONE, hasSeeds, identity, isSeed, teams } from "./properties.ts";

const run = (id: string, config: Record<string, unknown>, more: Partial<Run> = {}): Run => ({ id, name: id, project: "p", state: "finished", config, ...more }) as Run;
const runs = [
  run("a", { lr: 0.1, seed: 0, model: { depth: 2, kind: "x" } }),
  run("b", { lr: 0.1, seed: 1, model: { depth: 2, kind: "x" } }),
  run("c", { lr: 1, seed: 0, model: { depth: 2, kind: "x" }, extra: null }, { state: "failed" }),
];

describe("comparing runs", () => {
  test("only what differs is named, however deep", () => {
    expect(differing(runs).map((one) => one.key)).toEqual(["config.lr", "config.seed", "config.extra", "state"]);
    expect(differing(runs)[2]!.values).toEqual([GONE, GONE, null]);
    expect(flatten({ a: { b: { c: 1 }, d: [1] }, e: {} })).toEqual([["a.b.c", 1], ["a.d", [1]], ["e", {}]]);
  });

  test("values are equal as configs mean it", () => {
    expect(identity(1)).toBe(identity(1.0));
    expect(identity(1)).not.toBe(identity("1"));
    expect(identity(null)).not.toBe(identity(GONE));
    expect(distinct([10, "b", 2, 10, "a"])).toEqual([2, 10, "a", "b"]);
  });

  test("what says the same twice is said once, by its shortest name", () => {
    const twice = differing([run("a", { optimizer: { lr: 1 }, lr: 1, seed: 0, extra: 1 }), run("b", { optimizer: { lr: 2 }, lr: 2, seed: 1, extra: 1 }), run("c", { optimizer: { lr: 2 }, lr: 2, seed: 3, extra: 2 })]);
    expect(apart(twice).map((one) => one.title)).toEqual(["lr", "seed", "extra"]);
    expect(teams([], twice, true)).toEqual([]);
  });

  test("names are as short as tells them apart", () => {
    expect(endings(["lr", "optimizer.lr", "model.depth", "a.b.c", "d.b.c"])).toEqual(["lr", "optimizer.lr", "depth", "a.b.c", "d.b.c"]);
  });

  test("numbers are short as far as that tells them apart", () => {
    expect(brief([0.0001323788668963749, 0.5, 4, "x", GONE])).toEqual(["0.00013238", "0.5", "4", "x", "–"]);
    expect(brief([0.1234567, 0.1234568])).toEqual(["0.1234567", "0.1234568"]);
  });

  test("teams that differ in many properties have names that differ", () => {
    const wide = [0, 1].map((f) => run(`w${f}`, { a: 1, b: 1, c: 1, d: 1, e: 1, f }));
    const other = run("o", { a: 2, b: 3, c: 4, d: 5, e: 6, f: 7 });
    expect(teams([...wide, other], differing([...wide, other]), true).map((team) => team.label)).toEqual(["a=1 b=1 c=1 d=1 e=1 f=0", "a=1 b=1 c=1 d=1 e=1 f=1", "a=2 b=3 c=4 d=5 e=6 f=7"]);
  });

  test("seeds are folded, and nothing else is", () => {
    const properties = differing(runs);
    expect(teams(runs, properties, true).map((team) => team.members)).toEqual([[0, 1], [2]]);
    expect(teams(runs, properties, true)[0]!.label).toBe("lr=0.1 extra=–");
    expect(teams(runs, properties, false)).toHaveLength(3);
    expect(hasSeeds(runs, properties)).toBe(true);
    expect(hasSeeds(runs.slice(1), differing(runs.slice(1)))).toBe(false);
    expect([isSeed("train.random-seed"), isSeed("data_seed"), isSeed("seeded")]).toEqual([true, true, false]);
  });
});
