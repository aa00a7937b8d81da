/** The part of an output file that is held: whole lines with their offsets, added to at both ends. Pure. */
import type { Printed } from "~/api/about";
import { parse, PLAIN, type Pen } from "~/text/ansi";

export interface Held {
  /** Of the file. */
  size: number;
  start: number;
  end: number;
  lines: readonly Row[];
  /** The last line has no end yet. */
  open: boolean;
}

export interface Row {
  /** The offset at which the line begins: its name, also when others come before it. */
  at: number;
  text: string;
}

export const NOTHING: Held = { size: 0, start: 0, end: 0, lines: [], open: false };
export const MOST_ROWS = 20_000;
const encoder = new TextEncoder();

/** As a terminal would show it in the end: what was drawn over is not there. */
export function drawn(line: string): string {
  if (!line.includes("\r")) return line;
  return line.split("\r").filter(Boolean).at(-1) ?? "";
}

/** The rows of a page. Bytes that are no UTF-8 came as one letter each and are counted from the page's end by nobody:
 * offsets inside of such a page are near, and its borders exact. */
export function rows(page: Printed): Row[] {
  let at = page.start;
  return page.lines.map((line) => {
    const row = { at, text: drawn(line) };
    at += encoder.encode(line).length + 1;
    return row;
  });
}

export function opened(page: Printed): Held {
  return { size: page.size, start: page.start, end: page.end, lines: rows(page), open: isOpen(page) };
}

/** The line end that each line is counted with is missing. */
function isOpen(page: Printed): boolean {
  const counted = page.lines.reduce((sum, line) => sum + encoder.encode(line).length + 1, page.start);
  return counted === page.end + 1;
}

/** With the page behind it. A last line without an end goes on in that page. */
export function later(held: Held, page: Printed): Held {
  if (page.start > held.end || page.end <= held.end) return { ...held, size: page.size };
  const kept = held.lines.filter((row) => row.at < page.start);
  const all = [...kept, ...rows(page)];
  const cut = all.length > MOST_ROWS ? all.slice(all.length - MOST_ROWS) : all;
  return { size: page.size, start: cut[0]?.at ?? page.start, end: page.end, lines: cut, open: isOpen(page) };
}

/** With the page before it. */
export function earlier(held: Held, page: Printed): Held {
  if (page.end !== held.start) return held;
  const all = [...rows(page), ...held.lines];
  const cut = all.slice(0, MOST_ROWS);
  const whole = cut.length === all.length;
  return { size: page.size, start: page.start, end: whole ? held.end : all[MOST_ROWS]!.at, lines: cut, open: whole && held.open };
}

/** Where to go on reading: at the last line when that has no end yet. */
export function goOn(held: Held): number {
  return held.open && held.lines.length > 0 ? held.lines.at(-1)!.at : held.end;
}

/** Where the row is that has this offset, or the one before it. */
export function rowAt(held: Held, offset: number): number {
  let [low, high] = [0, held.lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (held.lines[middle]!.at <= offset) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The pens with which rows begin: a colour goes on until it is ended. */
export function pens(lines: readonly Row[], from: number, to: number, before = 200): Pen[] {
  let pen = PLAIN;
  const found: Pen[] = [];
  for (let at = Math.max(0, from - before); at < to; at += 1) {
    if (at >= from) found.push(pen);
    const text = lines[at]?.text ?? "";
    if (text.includes("\x1b")) pen = parse(text, pen).pen;
  }
  return found;
}

/** A text cut where it has what is looked for. */
export function marked(text: string, wanted: string): { text: string; hit: boolean }[] {
  if (!wanted) return [{ text, hit: false }];
  const [lower, needle] = [text.toLowerCase(), wanted.toLowerCase()];
  if (lower.length !== text.length) return [{ text, hit: lower.includes(needle) }]; // letters that grow when they are small
  const found: { text: string; hit: boolean }[] = [];
  let at = 0;
  for (let place = lower.indexOf(needle); place >= 0; place = lower.indexOf(needle, at)) {
    if (place > at) found.push({ text: text.slice(at, place), hit: false });
    found.push({ text: text.slice(place, place + needle.length), hit: true });
    at = place + needle.length;
  }
  if (at < text.length || found.length === 0) found.push({ text: text.slice(at), hit: false });
  return found;
}
