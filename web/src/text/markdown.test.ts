import { describe, expect, test } from "vitest";
import { inline, isSafe, parse } from "./markdown.ts";

describe("Markdown", () => {
  test("has headings, paragraphs, lists, quotes, code, rules and tables", () => {
    const text = "# One *two*\n\nA line\nand another\n\n- a\n- b\n  - c\n\n1. x\n2. y\n\n> said\n> so\n\n```py\nif a:\n  b\n```\n\n---\n\n| lr | acc |\n|---|---:|\n| 0.1 | **0.9** |\n";
    const found = parse(text);
    expect(found.map((part) => part.kind)).toEqual(["heading", "paragraph", "list", "list", "quote", "code", "rule", "table"]);
    expect(found[0]).toEqual({ kind: "heading", level: 1, inside: [{ kind: "text", text: "One " }, { kind: "em", inside: [{ kind: "text", text: "two" }] }] });
    expect(found[1]).toEqual({ kind: "paragraph", inside: [{ kind: "text", text: "A line\nand another" }] });
    expect(found[2]).toMatchObject({ ordered: false, items: [[{ kind: "paragraph" }], [{ kind: "paragraph" }, { kind: "list" }]] });
    expect(found[3]).toMatchObject({ ordered: true });
    expect(found[5]).toEqual({ kind: "code", text: "if a:\n  b" });
    expect(found[7]).toMatchObject({ right: [false, true], rows: [[[{ kind: "text", text: "0.1" }], [{ kind: "strong" }]]] });
  });

  test("has code, links and escapes in a line", () => {
    expect(inline("`a*b*`")).toEqual([{ kind: "code", text: "a*b*" }]);
    expect(inline("see [the run](/runs/a)!")).toEqual([
      { kind: "text", text: "see " }, { kind: "link", href: "/runs/a", inside: [{ kind: "text", text: "the run" }] }, { kind: "text", text: "!" },
    ]);
    expect(inline("\\*no\\* snake_case_name 2*3")).toEqual([{ kind: "text", text: "*no* snake_case_name 2*3" }]);
    expect(inline("https://example.org/a.")[0]).toMatchObject({ kind: "link", href: "https://example.org/a" });
  });

  test("has no markup of the writer's own, and no links that run", () => {
    for (const bad of ["javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "//evil.example", "/\\evil", "vbscript:x", " javascript:x"]) {
      expect(isSafe(bad)).toBe(false);
      expect(JSON.stringify(inline(`[x](${bad})`))).not.toContain('"link"');
    }
    expect(inline("<img src=x onerror=alert(1)>")).toEqual([{ kind: "text", text: "<img src=x onerror=alert(1)>" }]);
  });

  test("ends, whatever it is given", () => {
    for (const odd of ["*".repeat(2000), "> ".repeat(500), "- ".repeat(500), "[".repeat(2000), "```", "|\n|-", "_a".repeat(1000), "\\", "#"]) parse(odd);
  });
});
