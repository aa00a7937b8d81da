/** Tables as text to be pasted: Markdown, CSV and LaTeX. Pure. */

export interface Cell {
  text: string;
  /** The best of its column. */
  best?: boolean;
  /** What the text says in a few digits: a mean over so many, and their spread. */
  exact?: { mean: number; std: number; n: number };
  /** The same with every digit. */
  whole?: string;
}

export interface TextTable {
  head: readonly string[];
  rows: readonly (readonly Cell[])[];
  /** Which columns hold numbers. */
  right: readonly boolean[];
}

export function markdown({ head, rows, right }: TextTable): string {
  const safe = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("|", "\\|").replace(/\s*\n\s*/g, " ");
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const bold = (cell: Cell): string => (cell.best && cell.text ? `**${safe(cell.text)}**` : safe(cell.text));
  return [line(head.map(safe)), line(right.map((end) => (end ? "---:" : "---"))), ...rows.map((row) => line(row.map(bold)))].join("\n") + "\n";
}

/** For programs: all digits, and a mean, its spread and its count in columns of their own. */
export function csv({ head, rows }: TextTable): string {
  // A cell that begins like a formula would be one in a spreadsheet.
  const quote = (text: string): string => {
    const safe = /^[=@\t\r]|^[+-](?![\d.∞])/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const spread = head.map((_, at) => rows.some((row) => (row[at]?.exact?.n ?? 0) > 1));
  const titles = head.flatMap((title, at) => (spread[at] ? [`${title} mean`, `${title} std`, `${title} n`] : [title]));
  const texts = (cell: Cell, at: number): string[] => {
    const { mean, std, n } = cell.exact ?? { mean: NaN, std: NaN, n: 0 };
    const first = n > 0 ? String(mean) : cell.whole ?? cell.text;
    return spread[at] ? [first, n > 1 ? String(std) : "", n > 0 ? String(n) : ""] : [first];
  };
  return [titles, ...rows.map((row) => row.flatMap(texts))].map((row) => row.map(quote).join(",")).join("\r\n") + "\r\n";
}

export function latex({ head, rows, right }: TextTable): string {
  const line = (cells: readonly string[]): string => `${cells.join(" & ")} \\\\`;
  const body = rows.map((row) => line(row.map((cell) => (cell.best && cell.text ? `\\textbf{${tex(cell.text)}}` : tex(cell.text)))));
  return [
    `\\begin{tabular}{${right.map((end) => (end ? "r" : "l")).join("")}}`,
    "\\toprule", line(head.map(tex)), "\\midrule", ...body, "\\bottomrule", "\\end{tabular}", "",
  ].join("\n");
}

const TEX: Record<string, string> = {
  "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "&": "\\&", "%": "\\%", $: "\\$", "#": "\\#", _: "\\_",
  "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "±": "$\\pm$", "∞": "$\\infty$", "−": "$-$", "–": "--", "\n": " ",
};

/** Text as LaTeX prints it, and 1.2e-5 as a power of ten. */
export function tex(text: string): string {
  const power = /^(-?[\d.]+)e(-?\d+)$/.exec(text);
  if (power) return `$${power[1]} \\times 10^{${power[2]}}$`;
  const spread = /^\((-?[\d.]+) ± ([\d.]+)\)e(-?\d+)$/.exec(text);
  if (spread) return `$(${spread[1]} \\pm ${spread[2]}) \\times 10^{${spread[3]}}$`;
  return text.replace(/[\\{}&%$#_~^±∞−–\n]/g, (sign) => TEX[sign]!);
}
