import { describe, expect, test } from "vitest";
import { ago, bytes, cell, duration, last, meanStd, number, shareOf } from "./format.ts";

describe("numbers", () => {
  test.each([
    [0.1, "0.1"], [0.123456789, "0.12346"], [1e-9, "1e-9"], [12345.678, "12346"], [123456.7, "123457"], [1234567.5, "1234568"], [5, "5"],
    [-0.00001234, "-1.234e-5"], [100, "100"], [1731959842123, "1731959842123"], [1.5e18, "1.5e18"], [2.3456789e10 + 0.5, "2.3457e10"], [null, "–"], ["inf", "∞"], ["-inf", "−∞"], [NaN, "NaN"],
  ])("%s is shown as %s", (value, text) => expect(number(value)).toBe(text));

  test("the last of a metric is NaN where there is no number for it", () => {
    expect(last({ last: null, count: 3 })).toBe("NaN");
    expect(last({ last: null, count: 0 })).toBe("–");
    expect(last({ last: 0.5, count: 3 })).toBe("0.5");
  });
  test("a mean has the digits that its spread is sure of", () => {
    expect(meanStd(0.91234, 0.0123, 5)).toBe("0.912 ± 0.012");
    expect(meanStd(12.3, 4.5, 3)).toBe("12.3 ± 4.5");
    expect(meanStd(0.5, 0.1, 1)).toBe("0.5");
    expect(meanStd(0.5, 0, 3)).toBe("0.5 ± 0");
    expect(meanStd(1293012.5, 9070.1, 3)).toBe("1293013 ± 9070");
    expect(meanStd(1.2345e-10, 2.1e-12, 3)).toBe("(1.234 ± 0.021)e-10");
    expect(meanStd(2.5e12, 3e10, 3)).toBe("(2.500 ± 0.030)e12");
    expect(meanStd(null, null, 0)).toBe("–");
  });
});

test.each([
  [0, "0s"], [0.25, "250ms"], [3.21, "3.2s"], [83, "1m 23s"], [3600, "1h"], [7325, "2h 2m"], [200000, "2d 7h"], [null, "–"],
])("%s seconds are %s", (seconds, text) => expect(duration(seconds)).toBe(text));

test("times, sizes and other values", () => {
  expect(ago(100, 165)).toBe("1m ago");
  expect(ago(100, 100.2)).toBe("now");
  expect(bytes(1234567)).toBe("1.23 MB");
  expect(bytes(12)).toBe("12 B");
  expect(cell({ a: [1] })).toBe('{"a":[1]}');
  expect(cell(false)).toBe("false");
});

test("a share of what did not end well is never all of it", () => {
  expect(["running", "finished", "failed", "killed", "lost"].map((state) => shareOf(1, state))).toEqual([1, 1, 0.99, 0.99, 0.99]);
  expect([shareOf(0.5, "failed"), shareOf(-1), shareOf(2)]).toEqual([0.5, 0, 1]);
});
