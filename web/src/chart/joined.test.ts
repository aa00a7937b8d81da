import { expect, test } from "vitest";
import { joined, spliced } from "./joined.ts";

const old = { steps: [1, 5], values: [10, 50], times: [100, 101], count: 900 };

test("new points come behind the old ones", () => {
  expect(joined(old, [6, 7], [60, NaN], [102, 103])).toEqual({ steps: [1, 5, 6, 7], values: [10, 50, 60, NaN], times: [100, 101, 102, 103], count: 902 });
});

test("a late point goes to its step, and a step that is written again has its last value", () => {
  expect(joined(old, [3, 5], [30, 55], [110, 111])).toEqual({ steps: [1, 3, 5], values: [10, 30, 55], times: [100, 110, 111], count: 901 });
});

test("without times none appear", () => {
  expect(joined({ ...old, times: undefined }, [2], [20], [1]).times).toBeUndefined();
});

test("a part in detail replaces what the whole has there, and nothing beside it", () => {
  const whole = { steps: [0, 10, 20, 30], values: [0, 1, 2, 3], times: undefined, count: 31 };
  const part = { steps: [8, 9, 10, 11], values: [0.8, 0.9, 1, 1.1], times: undefined, count: 5 };
  expect(spliced(whole, part, [8, 20])).toEqual({ steps: [0, 8, 9, 10, 11, 30], values: [0, 0.8, 0.9, 1, 1.1, 3], times: undefined, count: 31 });
  expect(spliced(whole, { steps: [], values: [], times: undefined, count: 0 }, [12, 18]).steps).toEqual([0, 10, 20, 30]);
});
