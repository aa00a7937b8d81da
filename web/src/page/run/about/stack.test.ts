import { expect, test } from "vitest";
import type { Used } from "~/api/about";
import { stacked } from "./stack.ts";

const used = (label: string, values: (number | null)[]): Used => ({ label, who: {}, began: 0, ended: 0, mean: {}, most: {}, series: { cpu: values } });
const plain = (): string => "red";

test("each process begins where the one below it ends", () => {
  const found = stacked([used("small", [1, 1, null]), used("large", [4, 5, 6])], "cpu", 100, 2, 100, plain);
  expect(found.map((line) => line.label)).toEqual(["large", "small"]);
  expect(found[0]!.x).toEqual([0, 1, 3, 5, 6]);
  expect(found[0]!.band).toEqual({ low: [0, 0, 0, 0, 0], high: [4, 4, 5, 6, 6] });
  expect(found[1]!.band).toEqual({ low: [4, 4, 5, 6, 6], high: [5, 5, 6, 6, 6] });
});

test("many processes are a few areas and the rest", () => {
  const found = stacked(Array.from({ length: 30 }, (_, n) => used(`p${n}`, [1])), "cpu", 0, 1, 0, plain);
  expect(found).toHaveLength(11);
  expect(found.at(-1)!.label).toBe("20 others");
  expect(found.at(-1)!.band!.high).toEqual([30, 30, 30]);
});

test("what was not sampled is not there", () => {
  expect(stacked([used("a", [])], "gpu", 0, 1, 0, plain)).toEqual([]);
});
