/** Markdown as a tree of plain values: a small part of it, and no markup of the writer's own. Pure. */

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "em" | "del"; inside: Inline[] }
  | { kind: "link"; href: string; inside: Inline[] };

export type Part =
  | { kind: "heading"; level: number; inside: Inline[] }
  | { kind: "paragraph"; inside: Inline[] }
  | { kind: "code"; text: string }
  | { kind: "quote"; inside: Part[] }
  | { kind: "list"; ordered: boolean; items: Part[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][]; right: boolean[] }
  | { kind: "rule" };

const DEEPEST = 8;

export function parse(text: string, depth = 0): Part[] {
  const lines = text.replace(/\r\n?/g, "\n").split("\n");
  const found: Part[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at]!;
    const fence = /^ {0,3}(```+|~~~+)/.exec(line);
    const heading = /^ {0,3}(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (line.trim() === "") at += 1;
    else if (fence) {
      const end = lines.findIndex((other, number) => number > at && other.trim().startsWith(fence[1]!));
      const to = end < 0 ? lines.length : end;
      found.push({ kind: "code", text: lines.slice(at + 1, to).join("\n") });
      at = to + 1;
    } else if (heading) {
      found.push({ kind: "heading", level: heading[1]!.length, inside: inline(heading[2]!) });
      at += 1;
    } else if (/^ {0,3}([-*_])( *\1){2,}\s*$/.test(line)) {
      found.push({ kind: "rule" });
      at += 1;
    } else if (/^ {0,3}>/.test(line) && depth < DEEPEST) {
      const to = endOf(lines, at, (other) => /^ {0,3}>/.test(other));
      found.push({ kind: "quote", inside: parse(lines.slice(at, to).map((other) => other.replace(/^ {0,3}> ?/, "")).join("\n"), depth + 1) });
      at = to;
    } else if (ITEM.test(line) && depth < DEEPEST) at = take(found, list(lines, at, depth));
    else if (line.includes("|") && isRule(lines[at + 1])) at = take(found, table(lines, at));
    else {
      const to = Math.max(at + 1, endOf(lines, at, (other, number) => other.trim() !== "" && (number === at || !BLOCK.test(other))));
      found.push({ kind: "paragraph", inside: inline(lines.slice(at, to).map((other) => other.trim()).join("\n")) });
      at = to;
    }
  }
  return found;
}

function take(found: Part[], [part, at]: [Part, number]): number {
  found.push(part);
  return at;
}

const ITEM = /^( {0,3})([-*+]|\d{1,9}[.)])\s+/;
const BLOCK = /^ {0,3}(#{1,6}\s|```|~~~|>|[-*+]\s|\d{1,9}[.)]\s)/;

function endOf(lines: readonly string[], from: number, goesOn: (line: string, at: number) => boolean): number {
  let at = from;
  while (at < lines.length && goesOn(lines[at]!, at)) at += 1;
  return at;
}

function list(lines: readonly string[], from: number, depth: number): [Part, number] {
  const ordered = /\d/.test(ITEM.exec(lines[from]!)![2]!);
  const items: Part[][] = [];
  let at = from;
  while (at < lines.length) {
    const mark = ITEM.exec(lines[at]!);
    if (!mark || /\d/.test(mark[2]!) !== ordered) break;
    const own = [lines[at]!.slice(mark[0].length)];
    at += 1;
    while (at < lines.length && (/^\s{2,}\S/.test(lines[at]!) || (lines[at]!.trim() === "" && /^\s{2,}\S/.test(lines[at + 1] ?? "")))) {
      own.push(lines[at]!.replace(/^ {1,4}/, ""));
      at += 1;
    }
    items.push(parse(own.join("\n"), depth + 1));
    while (at < lines.length && lines[at]!.trim() === "" && ITEM.test(lines[at + 1] ?? "")) at += 1;
  }
  return [{ kind: "list", ordered, items }, at];
}

function isRule(line: string | undefined): boolean {
  return line !== undefined && line.includes("-") && line.includes("|") && /^[\s|:-]+$/.test(line);
}

function table(lines: readonly string[], from: number): [Part, number] {
  const cells = (line: string): string[] => {
    const bare = line.trim().replace(/^\|/, "").replace(/(?<!\\)\|$/, "");
    return bare.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  };
  const to = endOf(lines, from, (line) => line.includes("|"));
  const head = cells(lines[from]!);
  const right = cells(lines[from + 1]!).map((cell) => cell.endsWith(":") && !cell.startsWith(":"));
  const rows = lines.slice(from + 2, to).map((line) => cells(line).slice(0, head.length).map(inline));
  return [{ kind: "table", head: head.map(inline), rows, right }, to];
}

const PIECE = /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|\*\*(?=\S)([\s\S]+?)(?<=\S)\*\*|~~(?=\S)([\s\S]+?)(?<=\S)~~|\*(?=\S)([\s\S]+?)(?<=\S)\*|(?<!\w)_(?=\S)([\s\S]+?)(?<=\S)_(?!\w)|\[([^\][]*)\]\(\s*<?([^\s<>()]*)>?\s*\)|(https?:\/\/[^\s<>"')\]]+[^\s<>"')\].,;:!?])|\\([\\`*_{}[\]()#+\-.!|~>])/;

export function inline(text: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  const say = (words: string): void => {
    const before = found.at(-1);
    if (!words) return;
    if (before?.kind === "text") before.text += words;
    else found.push({ kind: "text", text: words });
  };
  let rest = text;
  for (;;) {
    const hit = depth < DEEPEST ? PIECE.exec(rest) : null;
    if (!hit) break;
    say(rest.slice(0, hit.index));
    rest = rest.slice(hit.index + hit[0].length);
    const [whole, , code, strong, del, star, under, label, href, bare, escaped] = hit;
    if (code !== undefined) found.push({ kind: "code", text: code });
    else if (strong !== undefined) found.push({ kind: "strong", inside: inline(strong, depth + 1) });
    else if (del !== undefined) found.push({ kind: "del", inside: inline(del, depth + 1) });
    else if (star !== undefined || under !== undefined) found.push({ kind: "em", inside: inline((star ?? under)!, depth + 1) });
    else if (bare !== undefined) found.push({ kind: "link", href: bare, inside: [{ kind: "text", text: bare }] });
    else if (escaped !== undefined) say(escaped);
    else if (isSafe(href ?? "")) found.push({ kind: "link", href: href!, inside: inline(label ?? "", depth + 1) });
    else say(whole);
  }
  say(rest);
  return found;
}

/** To the web, to a mail address, or to a page of the board: no other scheme can do anything here. */
export function isSafe(href: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(href) || /^\/(?![/\\])/.test(href) || href.startsWith("#");
}
