import { describe, expect, test } from "vitest";
import { csv, latex, markdown, tex } from "./export.ts";

const table = {
  head: ["lr", "acc | best"],
  rows: [[{ text: "0.1" }, { text: "0.9 ± 0.1", best: true }], [{ text: 'a "b", c' }, { text: "1e-5" }]],
  right: [false, true],
};

describe("a table as text", () => {
  test("Markdown", () => {
    expect(markdown(table)).toBe('| lr | acc \\| best |\n| --- | ---: |\n| 0.1 | **0.9 ± 0.1** |\n| a "b", c | 1e-5 |\n');
  });

  test("CSV, without formulas", () => {
    expect(csv(table)).toBe('lr,acc | best\r\n0.1,0.9 ± 0.1\r\n"a ""b"", c",1e-5\r\n');
    expect(csv({ head: ["lr"], rows: [[{ text: "0.00013238", whole: "0.0001323788668963749" }]], right: [true] })).toBe("lr\r\n0.0001323788668963749\r\n");
    expect(csv({ head: ["=1+1", "-0.5", "-x"], rows: [], right: [] })).toBe("'=1+1,-0.5,'-x\r\n");
  });

  test("CSV has means in all their digits, with spread and count beside them", () => {
    const exact = { mean: 0.912345678901, std: 0.0123456789, n: 3 };
    const rows = [[{ text: "a" }, { text: "0.912 ± 0.012", exact }, { text: "0.33333", exact: { mean: 1 / 3, std: NaN, n: 1 } }], [{ text: "b" }, { text: "NaN" }, { text: "" }]];
    expect(csv({ head: ["run", "acc", "loss"], rows, right: [] })).toBe(
      "run,acc mean,acc std,acc n,loss\r\na,0.912345678901,0.0123456789,3,0.3333333333333333\r\nb,NaN,,,\r\n",
    );
  });

  test("LaTeX, with everything escaped", () => {
    expect(latex(table)).toBe(
      '\\begin{tabular}{lr}\n\\toprule\nlr & acc | best \\\\\n\\midrule\n0.1 & \\textbf{0.9 $\\pm$ 0.1} \\\\\na "b", c & $1 \\times 10^{-5}$ \\\\\n\\bottomrule\n\\end{tabular}\n',
    );
    expect(tex("a_b{c}&%$#~^\\")).toBe("a\\_b\\{c\\}\\&\\%\\$\\#\\textasciitilde{}\\textasciicircum{}\\textbackslash{}");
    expect(tex("(1.23 ± 0.02)e-10")).toBe("$(1.23 \\pm 0.02) \\times 10^{-10}$");
    expect(tex("5 – 6")).toBe("5 -- 6");
  });
});
