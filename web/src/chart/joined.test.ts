import { expect, test } from "vitest";
import { joined } from "./joined.ts";

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
