/** In what runs differ, and which of them are the same but for their seed. Pure. */
import type { Run } from "~/api/types";
import { number } from "~/text/format";

const SEEDS = new Set(["seed", "random_seed", "rng_seed", "manual_seed", "seed_everything", "fold", "trial", "repeat"]);
const FIELDS = ["project", "group", "job_type", "state", "host", "user", "commit", "code"] as const;
export const GONE = Symbol("missing");

export interface Property {
  /** config.lr, or a field of the run. */
  key: string;
  title: string;
  /** Of each run, in their order; GONE where it has none. */
  values: readonly unknown[];
  seed: boolean;
}

/** Nested objects as dotted keys; lists and empty objects are values. */
export function flatten(values: Record<string, unknown>, prefix = ""): [key: string, value: unknown][] {
  return Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
    const name = prefix ? `${prefix}.${key}` : key;
    const inner = value !== null && typeof value === "object" && !Array.isArray(value) && Object.keys(value).length > 0;
    return inner ? flatten(value as Record<string, unknown>, name) : [[name, value]];
  });
}

export function isSeed(key: string): boolean {
  const last = key.slice(key.lastIndexOf(".") + 1).toLowerCase().replaceAll("-", "_");
  return SEEDS.has(last) || last.endsWith("_seed");
}

/** The same for values that configs call equal: 1 and 1.0 are, 1 and "1" are not. */
export function identity(value: unknown): string {
  return value === GONE ? "missing" : `${typeof value} ${typeof value === "string" ? value : JSON.stringify(value)}`;
}

export function shown(value: unknown): string {
  if (value === GONE) return "–";
  return typeof value === "string" ? value : JSON.stringify(value) ?? "–";
}

/** The same in five digits, as far as they tell apart what differs: a learning rate that was drawn has seventeen. */
export function brief(values: readonly unknown[]): string[] {
  const texts = values.map((value) => (typeof value === "number" ? number(value) : shown(value)));
  return new Set(texts).size === new Set(values.map(identity)).size ? texts : values.map(shown);
}

/** The properties in which the runs differ, those of the config first. */
export function differing(runs: readonly Run[]): Property[] {
  const flat = runs.map((run) => new Map(flatten(run.config)));
  const keys = new Set(flat.flatMap((one) => [...one.keys()]));
  const found: Property[] = [];
  for (const key of keys) {
    const values = flat.map((one) => (one.has(key) ? one.get(key) : GONE));
    if (differ(values)) found.push({ key: `config.${key}`, title: key, values, seed: isSeed(key) });
  }
  for (const field of FIELDS) {
    const values = runs.map((run) => run[field] ?? GONE);
    if (differ(values)) found.push({ key: field, title: field, values, seed: false });
  }
  return found;
}

export function differ(values: readonly unknown[]): boolean {
  return new Set(values.map(identity)).size > 1;
}

/** The different values, numbers in their order and before the rest. */
export function distinct(values: readonly unknown[]): unknown[] {
  const found = [...new Map(values.map((value) => [identity(value), value])).values()];
  return found.sort((one, other) => {
    if (typeof one === "number" && typeof other === "number") return one - other;
    if (typeof one === "number" || typeof other === "number") return typeof one === "number" ? -1 : 1;
    return shown(one).localeCompare(shown(other), "en", { numeric: true });
  });
}

/** Without those that say the same of every run as another one, such as `optimizer.lr` beside the `lr` of a sweep: the one
 * with the shortest name stays. */
export function apart(properties: readonly Property[]): Property[] {
  const words = properties.map((one) => one.values.map(identity).join("\n"));
  return properties.filter((one, at) => properties.every((other, place) => place === at || words[place] !== words[at] || one.title.length < other.title.length || (one.title.length === other.title.length && at < place)));
}

export interface Team {
  key: string;
  label: string;
  /** Places of its runs. */
  members: readonly number[];
}

const FEW = 4; // properties in a label, unless it takes more to tell all of them apart

/** Runs that agree in every config key but the seeds, as one; without folding each run is its own. */
export function teams(runs: readonly Run[], properties: readonly Property[], fold: boolean): Team[] {
  if (!fold) return runs.map((run, at) => ({ key: run.id, label: run.name || run.id, members: [at] }));
  const telling = properties.filter((one) => one.key.startsWith("config.") && !one.seed);
  const named = apart(telling);
  const names = endings(named.map((one) => one.title));
  const found = new Map<string, number[]>();
  runs.forEach((_, at) => {
    const key = telling.map((one) => identity(one.values[at])).join("\n");
    found.set(key, [...(found.get(key) ?? []), at]);
  });
  const texts = named.map((one) => brief(one.values));
  const all = [...found];
  const labels = (words: number): string[] => all.map(([, [first]]) => texts.slice(0, words).map((of, at) => `${names[at]!}=${of[first!]!}`).join(" ") || "all runs");
  let words = Math.min(FEW, named.length);
  while (words < named.length && new Set(labels(words)).size < all.length) words += 1;
  const said = labels(words);
  return all.map(([key, members], at) => ({ key: key || "all", label: said[at]!, members }));
}

/** There is something to fold: runs that differ in their seed alone. */
export function hasSeeds(runs: readonly Run[], properties: readonly Property[]): boolean {
  return teams(runs, properties, true).length < runs.length;
}

/** Dotted names by as many of their last parts as tell them apart. */
export function endings(names: readonly string[]): string[] {
  const end = (name: string, parts: number): string => name.split(".").slice(-parts).join(".");
  return names.map((name) => {
    for (let parts = 1; ; parts += 1) {
      const found = end(name, parts);
      if (found === name || names.every((other) => other === name || end(other, parts) !== found)) return found;
    }
  });
}
