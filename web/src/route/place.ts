/** Which view an address stands for. Pure: addresses in, values out, and back. */

export type Page = "runs" | "run" | "compare" | "reports" | "report" | "queue" | "watches" | "watch" | "now" | "none";

export interface Place {
  readonly page: Page;
  /** Of the run, the report, the queue or the watch; empty for a list. */
  readonly id: string;
  readonly query: URLSearchParams;
}

const LISTS: Record<string, [list: Page, one: Page]> = {
  runs: ["runs", "run"],
  compare: ["compare", "none"],
  reports: ["reports", "report"],
  queue: ["queue", "queue"],
  watches: ["watches", "watch"],
  now: ["now", "none"],
};
const WORDS: Record<Page, string> = {
  runs: "runs", run: "runs", compare: "compare", reports: "reports", report: "reports", queue: "queue",
  watches: "watches", watch: "watches", now: "now", none: "",
};

export function parse(path: string, search = ""): Place {
  const query = new URLSearchParams(search);
  const [word = "", id = "", ...rest] = path.split("/").filter(Boolean).map(decode);
  if (word === "") return { page: "runs", id: "", query };
  const pages = Object.hasOwn(LISTS, word) ? LISTS[word] : undefined;
  if (!pages || rest.length > 0) return { page: "none", id: "", query };
  return { page: id ? pages[1] : pages[0], id, query };
}

export function format(page: Page, id = "", query: Query = {}): string {
  const path = `/${WORDS[page]}${id ? `/${encodeURIComponent(id)}` : ""}`;
  const words = searchOf(query);
  return words ? `${path}?${words}` : path;
}

export type Query = URLSearchParams | Readonly<Record<string, Value>>;
/** What is empty, false or undefined is left away: an address says only what is not as usual. */
export type Value = string | number | boolean | readonly string[] | undefined;

/** The query with some of its names changed, in their old order. */
export function changed(query: URLSearchParams, changes: Readonly<Record<string, Value>>): URLSearchParams {
  const found = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    const words = wordsOf(value);
    found.delete(name);
    for (const word of words) found.append(name, word);
  }
  return found;
}

function searchOf(query: Query): string {
  const found = query instanceof URLSearchParams ? query : changed(new URLSearchParams(), query);
  // Spaces and commas are common in filters, and addresses are read by people.
  return found.toString().replaceAll("%2C", ",").replaceAll("%2F", "/").replaceAll("%3A", ":").replaceAll("%7E", "~");
}

function wordsOf(value: Value): readonly string[] {
  if (value === undefined || value === "" || value === false) return [];
  if (typeof value === "object") return value;
  return [value === true ? "1" : String(value)];
}

function decode(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}
