import { describe, expect, test } from "vitest";
import { afterKey, afterWheel } from "./zooming.ts";

describe("a key on a chart", () => {
  test.each([
    ["+", [25, 75]],
    ["=", [25, 75]],
    ["-", [-50, 150]],
    ["ArrowLeft", [-25, 75]],
    ["ArrowRight", [25, 125]],
    ["0", undefined],
    ["x", null],
    ["constructor", null],
  ] as const)("%s", (key, next) => expect(afterKey(key, [0, 100], false)).toEqual(next));

  test("goes by factors where the axis is logarithmic", () => {
    const [from, to] = afterKey("+", [1, 10_000], true)!;
    expect([Math.round(from), Math.round(to)]).toEqual([10, 1000]);
  });
});

describe("a turn of the wheel", () => {
  test("keeps the place that is pointed at", () => expect(afterWheel(0.5, 0.25, [0, 100], false)).toEqual([12.5, 62.5]));
  test("goes by factors where the axis is logarithmic", () => {
    const [from, to] = afterWheel(0.5, 0.5, [1, 10_000], true);
    expect([Math.round(from), Math.round(to)]).toEqual([10, 1000]);
  });
});
