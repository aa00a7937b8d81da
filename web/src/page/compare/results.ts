/** What metrics came to, run by run or team by team. Pure. */
import type { Num, Run } from "~/api/types";
import type { Team } from "~/page/compare/properties";
import { isEpoch } from "~/page/run/chart/groups";
import { meanStd, number, toNumber } from "~/text/format";
import { isLower } from "~/text/goal";
import { prominent } from "~/text/prominence";
import type { Cell } from "~/text/export";

export type StatName = "best" | "last" | "min" | "max";
export const STATS: readonly StatName[] = ["best", "last", "min", "max"];

/** Metrics that most of the runs have first, and of those what people look at; an epoch is no result. */
export function metricsOf(runs: readonly Run[]): string[] {
  const counts = new Map<string, number>();
  for (const run of runs) for (const name of Object.keys(run.metrics)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const found = [...counts].map(([name, runs]) => ({ name, runs }));
  found.sort((one, other) => other.runs - one.runs || (one.name < other.name ? -1 : 1));
  return prominent(found).map((one) => one.name).sort((one, other) => Number(isEpoch(one)) - Number(isEpoch(other)));
}

/** Those to begin with. A learning rate that is logged as well was set: it is no result, and none of them is the best. */
export function resultsAmong(metrics: readonly string[], properties: readonly { key: string }[]): string[] {
  return metrics.filter((name) => !isEpoch(name) && !properties.some((one) => one.key === `config.${name}`));
}

/** What the runs themselves say, else what the server took for the best, else what the name suggests: of a metric that was
 * logged once the least and the greatest are the same. */
export function lowerIsBetter(runs: readonly Run[], metric: string): boolean {
  const base = metric.replace(/\{.*$/s, "");
  const goal = runs.map((run) => run.goals?.[metric] ?? run.goals?.[base]).find((one) => one !== undefined);
  if (goal) return goal === "min";
  for (const run of runs) {
    const stat = run.metrics[metric];
    if (stat && stat.min !== stat.max && stat.best !== null) return stat.best === stat.min;
  }
  return isLower(metric);
}

export interface Summary { mean: number; std: number; n: number; nan: number }

export function summary(values: readonly Num[]): Summary {
  const numbers = values.map(toNumber).filter((value) => !Number.isNaN(value));
  const n = numbers.length;
  // The same number over all seeds has no spread: sums are rounded, and one would read 0.1 ± 1.5e-17.
  if (n > 1 && numbers.every((value) => value === numbers[0] && Number.isFinite(value))) return { mean: numbers[0]!, std: 0, n, nan: values.length - n };
  const mean = n ? numbers.reduce((sum, value) => sum + value, 0) / n : NaN;
  const std = n > 1 ? Math.sqrt(numbers.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (n - 1)) : NaN;
  return { mean, std, n, nan: values.length - n };
}

export function valueOf(run: Run, metric: string, stat: StatName): Num | undefined {
  return run.metrics[metric]?.[stat];
}

export function summaryOf(runs: readonly Run[], team: Team, metric: string, stat: StatName): Summary {
  return summary(team.members.flatMap((at) => {
    const value = valueOf(runs[at]!, metric, stat);
    return value === undefined ? [] : [value];
  }));
}

/** The cells of one column, the best of them marked; for `last` and `best` alike, by the metric's goal. */
export function column(runs: readonly Run[], teams: readonly Team[], metric: string, stat: StatName): Cell[] {
  const found = teams.map((team) => summaryOf(runs, team, metric, stat));
  const lower = lowerIsBetter(runs, metric);
  const known = found.map((one) => one.mean).filter(Number.isFinite);
  const best = lower ? Math.min(...known) : Math.max(...known);
  return found.map((one) => ({
    text: textOf(one),
    best: known.length > 1 && one.mean === best && known.some((other) => other !== best),
    ...(one.n > 0 ? { exact: { mean: one.mean, std: one.std, n: one.n } } : {}),
  }));
}

function textOf({ mean, std, n, nan }: Summary): string {
  if (n === 0) return nan > 0 ? "NaN" : "";
  return n === 1 ? number(mean) : meanStd(mean, std, n);
}
