import { describe, expect, test } from "vitest";
import { ema, NOTCHES, notchOf, spacingOf, weightOf } from "./smooth.ts";

describe("smoothing", () => {
  test("leaves a constant as it is, from the first point on", () => {
    for (const value of ema([3, 3, 3, 3], 0.99)) expect(value).toBeCloseTo(3, 12);
  });

  test("starts at the first value and not at zero", () => {
    const found = ema([10, 0, 0], 0.5);
    expect(found[0]).toBe(10);
    expect(found[1]).toBeCloseTo(10 / 3, 12); // weights 1 and 2
    expect(found[2]).toBeCloseTo(10 / 7, 12);
  });

  test("of nothing changes nothing", () => {
    expect(ema([1, 5, 2], 0)).toEqual([1, 5, 2]);
  });

  test("passes over what is no number, and keeps it", () => {
    expect(ema([1, NaN, 1], 0.9)).toEqual([1, NaN, expect.closeTo(1, 12)]);
    expect(ema([1, Infinity, 1], 0.9)[1]).toBe(Infinity);
  });

  test("looks the same when points were left away", () => {
    const steps = Array.from({ length: 1000 }, (_, at) => at);
    const values = steps.map((at) => at / 1000);
    const few = steps.filter((at) => at % 5 === 0);
    const whole = ema(values, 0.9, steps, 1);
    const thin = ema(few.map((at) => values[at]!), 0.9, few, spacingOf(few, 200) / 5);
    expect(Math.abs(thin.at(-1)! - whole[995]!)).toBeLessThan(0.01);
  });

  test("knows how dense a series was", () => {
    expect(spacingOf([0, 50, 100], 101)).toBe(1);
    expect(spacingOf([7], 1)).toBe(1);
  });

  test("is chosen in notches, each of which is another one", () => {
    const notches = Array.from({ length: NOTCHES + 1 }, (_, at) => at);
    expect(notches.map((at) => notchOf(weightOf(at)))).toEqual(notches);
    expect([weightOf(0), weightOf(NOTCHES)]).toEqual([0, 0.999]);
    expect(weightOf(34)).toBeCloseTo(0.9, 1);
  });
});
