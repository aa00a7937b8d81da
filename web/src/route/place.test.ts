import { describe, expect, test } from "vitest";
import { changed, format, parse } from "./place.ts";

describe("an address", () => {
  test.each([
    ["/", "runs", ""],
    ["/runs", "runs", ""],
    ["/runs/abc", "run", "abc"],
    ["/runs/a%2Fb", "run", "a/b"],
    ["/compare", "compare", ""],
    ["/reports/x", "report", "x"],
    ["/queue/fast", "queue", "fast"],
    ["/watches/w", "watch", "w"],
    ["/now", "now", ""],
    ["/now/x", "none", "x"],
    ["/elsewhere", "none", ""],
    ["/runs/a/b", "none", ""],
    ["/constructor", "none", ""],
    ["/runs/%zz", "run", "%zz"],
  ])("%s stands for the page %s", (path, page, id) => {
    const found = parse(path);
    expect([found.page, found.page === "none" ? id : found.id]).toEqual([page, id]);
  });

  test("is made from what it is read to", () => {
    for (const id of ["abc", "a/b", "a?b=c", "ü&#", "%41"]) {
      const path = format("run", id, { metric: ["a/b", "c&d"], smooth: 0.5, log: true, q: "" });
      const url = new URL(path, "http://x");
      const found = parse(url.pathname, url.search);
      expect(found.id).toBe(id);
      expect(found.query.getAll("metric")).toEqual(["a/b", "c&d"]);
      expect(found.query.get("log")).toBe("1");
      expect(found.query.has("q")).toBe(false);
    }
  });

  test("keeps the names that are not changed", () => {
    const before = new URLSearchParams("q=lr<1&sort=-created&star=1");
    expect(changed(before, { sort: undefined, q: "x" }).toString()).toBe("star=1&q=x");
    expect(before.get("sort")).toBe("-created");
  });
});
