import { expect, test } from "vitest";
import { ticks } from "./ticks.ts";

test("round numbers lie inside of the range", () => {
  expect(ticks([0, 10])).toEqual([0, 2, 4, 6, 8, 10]);
  expect(ticks([0.013, 0.087])).toEqual([0.02, 0.04, 0.06, 0.08]);
  expect(ticks([-1, 1], false, 4)).toEqual([-1, -0.5, 0, 0.5, 1]);
  expect(ticks([5, 5])).toEqual([5]);
});

test("powers of ten on a logarithm", () => {
  expect(ticks([0.001, 100], true)).toEqual([0.001, 0.01, 0.1, 1, 10, 100]);
  expect(ticks([1e-12, 1], true)).toEqual([1e-12, 1e-9, 1e-6, 0.001, 1]);
  expect(ticks([2, 8], true)).toEqual([2, 4, 6, 8]);
});

test("times are parted as clocks are", () => {
  expect(ticks([0, 600], false, 8, true)).toEqual([0, 120, 240, 360, 480, 600]);
  expect(ticks([0, 0.02], false, 4, true)).toEqual([0, 0.005, 0.01, 0.015, 0.02]);
  expect(ticks([0, 90_000], false, 5, true)).toEqual([0, 21_600, 43_200, 64_800, 86_400]);
});
