import { describe, expect, test } from "vitest";
import { reveal, seen, windows } from "./windowing.ts";

describe("a long table", () => {
  test("draws what is seen and a little more", () => {
    expect(seen(0, 300, 30, 100_000)).toEqual({ first: 0, end: 18 });
    expect(seen(30_000, 300, 30, 100_000)).toEqual({ first: 992, end: 1018 });
    expect(seen(2_999_900, 300, 30, 100_000).end).toBe(100_000);
    expect(seen(0, 300, 30, 0)).toEqual({ first: 0, end: 0 });
    expect(seen(9_000, 300, 30, 5).end).toBe(5);
  });

  test("fetches the windows that hold it", () => {
    expect(windows({ first: 0, end: 18 }, 100)).toEqual([0]);
    expect(windows({ first: 95, end: 301 }, 100)).toEqual([0, 1, 2, 3]);
    expect(windows({ first: 0, end: 0 }, 100)).toEqual([]);
  });

  test("scrolls no further than it must", () => {
    expect(reveal(5, 0, 300, 30)).toBeUndefined();
    expect(reveal(20, 0, 300, 30)).toBe(330);
    expect(reveal(2, 300, 300, 30)).toBe(60);
  });
});
