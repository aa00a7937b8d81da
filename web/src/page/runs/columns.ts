/** Which columns the table has, and how each is shown. Pure. */
import type { KeyList } from "~/api/board";
import { isSeed } from "~/page/compare/properties";
import { prominent } from "~/text/prominence";

export interface Column {
  /** As the query language names it. */
  key: string;
  title: string;
  width: number;
  kind: "name" | "state" | "progress" | "age" | "seconds" | "tags" | "value" | "number" | "spark";
}

const FIELDS: Record<string, [title: string, width: number, kind: Column["kind"]]> = {
  name: ["name", 260, "name"],
  state: ["state", 92, "state"],
  progress: ["progress", 104, "progress"],
  created: ["created", 86, "age"],
  started: ["started", 86, "age"],
  ended: ["ended", 86, "age"],
  seen: ["seen", 86, "age"],
  duration: ["duration", 84, "seconds"],
  age: ["age", 84, "seconds"],
  project: ["project", 110, "value"],
  tags: ["tags", 150, "tags"],
  notes: ["notes", 200, "value"],
};
const STATS = new Set(["last", "min", "max", "best", "step", "count"]);
export const SPARK = "spark:";

export function column(key: string): Column {
  if (key.startsWith(SPARK)) return { key, title: key.slice(SPARK.length), width: 132, kind: "spark" };
  const field = Object.hasOwn(FIELDS, key) ? FIELDS[key] : undefined;
  if (field) return { key, title: field[0], width: field[1], kind: field[2] };
  const at = key.indexOf(".");
  const [head, rest] = [key.slice(0, at), key.slice(at + 1)];
  if (at > 0 && STATS.has(head)) return { key, title: `${rest} ${head}`, width: width(`${rest} ${head}`), kind: "number" };
  const title = head === "config" ? rest : key;
  return { key, title, width: width(title), kind: "value" };
}

const width = (title: string): number => Math.max(84, Math.min(180, 30 + title.length * 7));

/** What tells these runs apart, and what they came to: what one wants to see before having chosen anything. */
export function usual(keys: KeyList | undefined): string[] {
  const telling = (keys?.config ?? []).filter((one) => one.values > 1);
  const config = [...telling.filter((one) => !isSeed(one.key)), ...telling.filter((one) => isSeed(one.key))].slice(0, 4).map((one) => `config.${one.key}`);
  const metrics = prominent((keys?.metrics ?? []).filter((one) => !/(^|\/)epoch$/.test(one.name))).slice(0, 3);
  const first = metrics[0];
  return ["state", "progress", "created", ...(first ? [SPARK + first.name] : []), ...metrics.map((one) => `best.${one.name}`), ...config, "duration", "project"];
}

/** How many points of a curve a run has: none are asked for where there are none. */
export const pointsOf = (metric: string): string => `count.${metric}`;

/** What the server is asked for: the columns that it knows, and what every row needs. */
export function wanted(columns: readonly Column[]): string[] {
  const shown = columns.map((one) => (one.kind === "spark" ? pointsOf(one.key.slice(SPARK.length)) : one.key));
  return [...new Set(["name", "state", "star", "bug", "notes", "tags", ...shown])];
}
