import { describe, expect, test } from "vitest";
import { parse, PLAIN } from "./ansi.ts";

const shown = (line: string) => parse(line).pieces;

describe("a line with terminal colours", () => {
  test("becomes pieces of text", () => {
    expect(shown("a\x1b[31mred\x1b[0m b")).toEqual([
      { text: "a", kind: "" }, { text: "red", kind: "fg-1" }, { text: " b", kind: "" },
    ]);
    expect(shown("\x1b[1;4;92;41mx")).toEqual([{ text: "x", kind: "fg-10 bg-1 bold underline" }]);
    expect(shown("\x1b[7mx")).toEqual([{ text: "x", kind: "fg-under bg-over" }]);
    expect(shown("\x1b[31m\x1b[39mx\x1b[2;3my\x1b[22;23mz").map((p) => p.kind)).toEqual(["", "dim italic", ""]);
  });

  test("has colours of 256 and of 24 bits", () => {
    expect(shown("\x1b[38;5;196mx")[0]?.color).toBe("#ff0000");
    expect(shown("\x1b[48;5;244mx")[0]?.background).toBe("#808080");
    expect(shown("\x1b[38;5;9mx")[0]?.kind).toBe("fg-9");
    expect(shown("\x1b[38;2;1;2;300;1mx")[0]).toEqual({ text: "x", kind: "bold", color: "#0102ff" });
    expect(shown("\x1b[38;5;999mx")[0]).toEqual({ text: "x", kind: "" });
  });

  test("passes its pen on to the next line", () => {
    const first = parse("\x1b[32mgreen");
    expect(parse("still", first.pen).pieces[0]?.kind).toBe("fg-2");
    expect(parse("\x1b[mx", first.pen).pen).toEqual(PLAIN);
  });

  test("loses every other control sequence and no text", () => {
    for (const junk of ["\x1b[2K", "\x1b[?25l", "\x1b]0;title\x07", "\x1b]8;;http://x\x1b\\", "\x1bP1$r\x1b\\", "\x1b(B", "\x07", "\x1b"]) {
      expect(shown(`a${junk}`).map((p) => p.text).join("")).toBe("a");
    }
    expect(shown("<script>alert(1)</script>")).toEqual([{ text: "<script>alert(1)</script>", kind: "" }]);
  });
});
