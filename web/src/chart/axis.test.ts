import { describe, expect, test } from "vitest";
import { between, places, stepsWithin, type Raw } from "./axis.ts";

const series: Raw = { steps: [0, 10, 20, 30], values: [1, 2, 3, 4], times: [100, 101, 105, 104], count: 4 };
const epochs: Raw = { steps: [0, 20], values: [0, 2], count: 2 };

describe("the x axis", () => {
  test("shows steps, seconds since the beginning, moments and epochs", () => {
    expect(places(series, "step", 100)).toEqual([0, 10, 20, 30]);
    expect(places(series, "time", 100)).toEqual([0, 1, 5, 5]);
    expect(places(series, "wall", 100)).toEqual([100, 101, 105, 105]);
    expect(places(series, "epoch", 100, epochs)).toEqual([0, 1, 2, 3]);
    expect(places(series, "epoch", 100)).toEqual([]);
  });

  test("finds what lies between two points", () => {
    expect(between(epochs, 5)).toBe(0.5);
    expect(between({ steps: [4], values: [7], count: 1 }, 100)).toBe(7);
  });

  test("says which steps a part of it shows", () => {
    expect(stepsWithin(series, series.steps, [12, 15])).toEqual([10, 20]);
    expect(stepsWithin(series, series.steps, [10, 20])).toEqual([0, 20]);
    expect(stepsWithin(series, series.steps, [40, 50])).toBeUndefined();
    expect(stepsWithin({ steps: [], values: [], count: 0 }, [], [0, 1])).toBeUndefined();
  });
});
