import { describe, expect, test } from "vitest";
import { extent, nearest, padded, place, rangeX, rangeY, type Line, rounded } from "./line.ts";

const line = (x: number[], y: number[], more: Partial<Line> = {}): Line => ({ key: "a", label: "a", color: "red", x, y, ...more });

describe("what is seen of lines", () => {
  test("a logarithmic axis goes from a round number to a round number", () => {
  expect(rounded([0.0017, 2.3])).toEqual([0.001, 3]);
  expect(rounded([0.2, 9.5])).toEqual([0.2, 10]);
  expect(rounded([1e-9, 1e5])).toEqual([1e-9, 1e5]);
});

test("infinities and gaps do not stretch the picture", () => {
    expect(extent([1, NaN, Infinity, -3, -Infinity])).toEqual([-3, 1]);
    expect(extent([NaN])).toBeUndefined();
    expect(extent([-1, 0, 2, 8], true)).toEqual([2, 8]);
  });

  test("points are found by their place", () => {
    expect([place([1, 3, 5], 0), place([1, 3, 5], 3), place([1, 3, 5], 6)]).toEqual([0, 1, 3]);
    expect([nearest([1, 3, 5], 3.9), nearest([1, 3, 5], 4.1), nearest([1, 3, 5], 9), nearest([], 1)]).toEqual([1, 2, 2, -1]);
  });

  test("the range is that of what is between the ends, and of its neighbours", () => {
    const lines = [line([0, 1, 2, 3, 4], [100, 1, 2, 3, 200])];
    expect(rangeY(lines, [2, 2])).toEqual([1, 3]);
    expect(rangeY(lines, [1, 4])).toEqual([1, 200]);
    expect(rangeX([...lines, line([-5], [0])])).toEqual([-5, 4]);
    const dots = [line([0, 1, 2], [9, 1, 9], { dots: [{}, {}, {}] })];
    expect(rangeY(dots, [0.5, 1.5])).toEqual([1, 1]);
  });

  test("a band belongs to its line, and an area is nothing but its band", () => {
    const band = { low: [-1, 0], high: [3, 4] };
    expect(rangeY([line([0, 1], [1, 2], { band })], [0, 1])).toEqual([-1, 4]);
    expect(rangeY([line([0, 1], [50, 50], { band, area: true })], [0, 1])).toEqual([-1, 4]);
  });

  test("a flat line has air around it", () => {
    const [low, high] = padded([5, 5]);
    expect(low).toBeLessThan(5);
    expect(high).toBeGreaterThan(5);
    expect(padded([0, 0])).toEqual([-0.05, 0.05]);
    expect(padded([1, 100], true)[0]).toBeGreaterThan(0);
  });
});
