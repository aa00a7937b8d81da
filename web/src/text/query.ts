/** Pieces of the query language, as docs/reference/query-language.md has it. Pure. */

const WORD = /^[^\s'"()=<>!~,]+$/;
const KEYWORDS = new Set(["and", "or", "not", "in", "star", "bug"]);

export function quoted(text: string): string {
  return `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
}

function word(text: string): string {
  return WORD.test(text) && !KEYWORDS.has(text) ? text : quoted(text);
}

/** A key whose parts may hold anything: config."my key".x */
export function keyText(key: string): string {
  if (WORD.test(key) && !KEYWORDS.has(key)) return key;
  const [head = "", ...rest] = key.split(".");
  return rest.length > 0 && WORD.test(head) ? `${head}.${quoted(rest.join("."))}` : quoted(key);
}

/** The term that runs fit which have this value there. */
export function equals(key: string, value: unknown): string {
  const name = keyText(key);
  if (value === undefined) return `not has:${name}`;
  if (value === null) return `${name}=null`;
  if (typeof value === "number" || typeof value === "boolean") return `${name}=${String(value)}`;
  if (typeof value === "string") return /^(true|false|null|nan|-?[\d.]+(e[+-]?\d+)?)$/i.test(value) ? `${name}=${quoted(value)}` : `${name}=${word(value)}`;
  return `${name}=${quoted(JSON.stringify(value))}`;
}

/** Both must hold. */
export function and(query: string, term: string): string {
  const old = query.trim();
  if (!old) return term;
  return / or /i.test(` ${old} `) ? `(${old}) ${term}` : `${old} ${term}`;
}

/** Exactly these runs. */
export const these = (ids: readonly string[]): string => `id=${ids.map(word).join(",")}`;
