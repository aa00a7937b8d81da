/** Tables as text to be pasted: Markdown, CSV and LaTeX. Pure. */

export interface Cell {
  text: string;
  /** The best of its column. */
  best?: boolean;
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

export function csv({ head, rows }: TextTable): string {
  // A cell that begins like a formula would be one in a spreadsheet.
  const quote = (text: string): string => {
    const safe = /^[=@\t\r]|^[+-](?![\d.∞])/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [head, ...rows.map((row) => row.map((cell) => cell.text))].map((row) => row.map(quote).join(",")).join("\r\n") + "\r\n";
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
  return text.replace(/[\\{}&%$#_~^±∞−–\n]/g, (sign) => TEX[sign]!);
}
