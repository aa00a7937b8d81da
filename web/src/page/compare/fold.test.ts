import { describe, expect, test } from "vitest";
import { fold } from "./fold.ts";

describe("curves of equal runs", () => {
  test("become their mean and the spread of a sample, at the places that any of them has", () => {
    const found = fold([{ x: [0, 2, 4], y: [0, 2, 4] }, { x: [0, 1, 4], y: [2, 3, 6] }], 100);
    expect(found.x).toEqual([0, 1, 2, 4]);
    expect(found.mean).toEqual([1, 2, 3, 5]);
    found.std.forEach((std) => expect(std).toBeCloseTo(Math.SQRT2));
  });

  test("have no value before their first and behind their last point", () => {
    const found = fold([{ x: [0, 1], y: [1, 1] }, { x: [1, 2], y: [3, 5] }], 100);
    expect([found.x, found.mean, found.std]).toEqual([[0, 1, 2], [1, 2, 5], [0, Math.SQRT2, 0]]);
  });

  test("are met at even places when they have too many, and what is no number is left out", () => {
    const x = Array.from({ length: 1000 }, (_, at) => at);
    const found = fold([{ x, y: x }, { x, y: x.map(() => NaN) }], 11);
    expect(found.x).toHaveLength(11);
    expect(found.mean[10]).toBe(999);
    expect(found.mean[5]).toBeCloseTo(499.5);
  });
});
