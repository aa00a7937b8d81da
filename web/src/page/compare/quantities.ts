/** Numbers of runs to be put on an axis: properties of their config and results. Pure. */
import type { Run } from "~/api/types";
import { distinct, GONE, identity, shown, type Property } from "~/page/compare/properties";
import { valueOf, type StatName } from "~/page/compare/results";
import { toNumber } from "~/text/format";

export interface Quantity {
  key: string;
  title: string;
  /** Of each run; NaN where it has none. */
  values: readonly number[];
  /** For what is no number: the names of 0, 1, 2... */
  names?: readonly string[];
}

export function ofProperty(property: Property): Quantity {
  const numeric = property.values.every((value) => typeof value === "number" || value === GONE);
  if (numeric) return { key: property.key, title: property.title, values: property.values.map((value) => (typeof value === "number" ? value : NaN)) };
  const all = distinct(property.values);
  const place = new Map(all.map((value, at) => [identity(value), at]));
  return { key: property.key, title: property.title, values: property.values.map((value) => place.get(identity(value))!), names: all.map(shown) };
}

export function ofMetric(runs: readonly Run[], metric: string, stat: StatName): Quantity {
  return { key: `${stat}.${metric}`, title: `${metric} ${stat}`, values: runs.map((run) => toNumber(valueOf(run, metric, stat))) };
}

/** Where a value stands between the least (0) and the greatest (1); on a logarithm when they span much. */
export function share(quantity: Quantity): (value: number) => number {
  const known = quantity.values.filter(Number.isFinite);
  const [low, high] = [Math.min(...known), Math.max(...known)];
  if (isWide(quantity)) return (value) => (Math.log(value) - Math.log(low)) / (Math.log(high) - Math.log(low) || 1);
  return (value) => (high === low ? 0.5 : (value - low) / (high - low));
}

/** Learning rates and the like: all above zero, and the greatest a hundred times the least. */
export function isWide(quantity: Quantity): boolean {
  const known = quantity.values.filter(Number.isFinite);
  return !quantity.names && known.length > 1 && Math.min(...known) > 0 && Math.max(...known) / Math.min(...known) >= 100;
}
