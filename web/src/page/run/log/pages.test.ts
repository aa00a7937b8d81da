import { describe, expect, test } from "vitest";
import { drawn, earlier, goOn, later, marked, opened, pens, rowAt } from "./pages.ts";

const page = (start: number, lines: string[], size = 1000): Parameters<typeof opened>[0] => ({
  attempt: 1, rank: 0, size, start, end: start + lines.reduce((sum, line) => sum + new TextEncoder().encode(line).length + 1, 0), lines,
});

describe("what is held of an output file", () => {
  test("has the offset of each line, in bytes", () => {
    const held = opened(page(100, ["ab", "ü", "c"]));
    expect(held.lines.map((row) => row.at)).toEqual([100, 103, 106]);
    expect([rowAt(held, 99), rowAt(held, 103), rowAt(held, 105), rowAt(held, 999)]).toEqual([-1, 1, 1, 2]);
  });
  test("grows at both ends, and a page that does not fit is left away", () => {
    const held = later(earlier(opened(page(100, ["b"])), page(98, ["a"])), page(102, ["c"]));
    expect(held.lines.map((row) => row.text)).toEqual(["a", "b", "c"]);
    expect([held.start, held.end]).toEqual([98, 104]);
    expect(later(held, page(300, ["x"])).lines).toHaveLength(3);
    expect(earlier(held, page(10, ["x"])).lines).toHaveLength(3);
  });
  test("takes a line again that had no end", () => {
    const begun = opened({ ...page(0, ["a", "50"]), end: 4 });
    expect([goOn(begun), goOn(opened(page(0, ["a", "50"])))]).toEqual([2, 5]);
    const held = later(begun, page(2, ["50 %", "b"]));
    expect(held.lines.map((row) => row.text)).toEqual(["a", "50 %", "b"]);
  });
});

test("a line that was drawn over is what was drawn last", () => {
  expect(drawn("1 %\r50 %\r100 %\r")).toBe("100 %");
  expect(drawn("plain")).toBe("plain");
});

test("a colour goes on in the next line until it is ended", () => {
  const lines = ["\x1b[31mred", "still", "\x1b[0mplain", "x"].map((text, at) => ({ at, text }));
  expect(pens(lines, 0, 4).map((pen) => pen.fg)).toEqual(["", "1", "1", ""]);
  expect(pens(lines, 1, 2).map((pen) => pen.fg)).toEqual(["1"]);
});

test("what is looked for is marked, whatever its case", () => {
  expect(marked("a Loss, loss", "loss").map((one) => [one.text, one.hit])).toEqual([["a ", false], ["Loss", true], [", ", false], ["loss", true]]);
  expect(marked("abc", "")).toEqual([{ text: "abc", hit: false }]);
  expect(marked("", "x")).toEqual([{ text: "", hit: false }]);
});
