/** Terminal colours as spans: text in, pieces with class names out. Nothing of it is ever read as markup. */

export interface Piece {
  text: string;
  /** Class names, as style/ansi.css has them; a colour of 24 bits is in `color` and `background`. */
  kind: string;
  color?: string;
  background?: string;
}

export interface Pen {
  fg: string;
  bg: string;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  inverse: boolean;
}

export const PLAIN: Pen = { fg: "", bg: "", bold: false, dim: false, italic: false, underline: false, inverse: false };

// CSI ... final | OSC ... BEL or ST | other two-character escapes
const ESCAPE = /\x1b(?:\[([0-9:;<=>?]*)[ -/]*([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[PX^_][^\x1b]*(?:\x1b\\)?|[ -/]*[0-~])?/g;
const CONTROL = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g;

/** The pieces of one line, and the pen as it leaves it: a colour may go on in the next line. */
export function parse(line: string, pen: Pen = PLAIN): { pieces: Piece[]; pen: Pen } {
  const pieces: Piece[] = [];
  let at = 0;
  for (const found of line.matchAll(ESCAPE)) {
    push(pieces, line.slice(at, found.index), pen);
    if (found[2] === "m") pen = turned(pen, found[1] ?? "");
    at = found.index + found[0].length;
  }
  push(pieces, line.slice(at), pen);
  return { pieces, pen };
}

function push(pieces: Piece[], raw: string, pen: Pen): void {
  const text = raw.replace(CONTROL, "");
  if (!text) return;
  const [fg, bg] = pen.inverse ? [pen.bg || "under", pen.fg || "over"] : [pen.fg, pen.bg];
  const words = [
    fg && !fg.startsWith("#") ? `fg-${fg}` : "", bg && !bg.startsWith("#") ? `bg-${bg}` : "", pen.bold ? "bold" : "",
    pen.dim ? "dim" : "", pen.italic ? "italic" : "", pen.underline ? "underline" : "",
  ].filter(Boolean);
  const piece: Piece = { text, kind: words.join(" ") };
  if (fg.startsWith("#")) piece.color = fg;
  if (bg.startsWith("#")) piece.background = bg;
  pieces.push(piece);
}

function turned(pen: Pen, words: string): Pen {
  const codes = words.split(/[;:]/).map((word) => Number(word || "0"));
  let next = { ...pen };
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at]!;
    if (code === 38 || code === 48) {
      const [color, used] = extended(codes.slice(at + 1));
      next = { ...next, [code === 38 ? "fg" : "bg"]: color };
      at += used;
    } else next = one(next, code);
  }
  return next;
}

function one(pen: Pen, code: number): Pen {
  if (code === 0) return PLAIN;
  if (code === 1) return { ...pen, bold: true };
  if (code === 2) return { ...pen, dim: true };
  if (code === 3) return { ...pen, italic: true };
  if (code === 4) return { ...pen, underline: true };
  if (code === 7) return { ...pen, inverse: true };
  if (code === 22) return { ...pen, bold: false, dim: false };
  if (code === 23) return { ...pen, italic: false };
  if (code === 24) return { ...pen, underline: false };
  if (code === 27) return { ...pen, inverse: false };
  if (code >= 30 && code <= 37) return { ...pen, fg: String(code - 30) };
  if (code === 39) return { ...pen, fg: "" };
  if (code >= 40 && code <= 47) return { ...pen, bg: String(code - 40) };
  if (code === 49) return { ...pen, bg: "" };
  if (code >= 90 && code <= 97) return { ...pen, fg: String(code - 82) };
  if (code >= 100 && code <= 107) return { ...pen, bg: String(code - 92) };
  return pen;
}

/** A colour of 256 (5;n) or of 24 bits (2;r;g;b), and how many codes it took. */
function extended(codes: number[]): [color: string, used: number] {
  if (codes[0] === 5) return [indexed(codes[1] ?? 0), 2];
  if (codes[0] === 2) return [hex(codes[1] ?? 0, codes[2] ?? 0, codes[3] ?? 0), 4];
  return ["", codes.length];
}

function indexed(n: number): string {
  if (!(n >= 0 && n <= 255)) return "";
  if (n < 16) return String(n);
  if (n >= 232) return hex(...(Array(3).fill(8 + (n - 232) * 10) as [number, number, number]));
  const level = (part: number): number => (part === 0 ? 0 : 55 + part * 40);
  const cube = n - 16;
  return hex(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function hex(...parts: [number, number, number]): string {
  return `#${parts.map((n) => Math.max(0, Math.min(255, n | 0)).toString(16).padStart(2, "0")).join("")}`;
}
