/** Which charts a run has: its metrics, grouped by what stands before the slash. Pure. */
import type { Evaluated } from "~/api/about";
import { prominent } from "~/text/prominence";

export interface Group {
  name: string;
  metrics: string[];
}

/** Whether it counts the epochs: `epoch`, or as some trainers say `train/epoch`, with tags or without. */
export const isEpoch = (metric: string): boolean => /(^|\/)epoch$/.test(plain(metric));

/** What counts the epochs of a metric: what was logged with it (`loss/epoch{split=test}` of `loss/value{split=test}`), else
 * `epoch`, else the first that does. */
export function epochOf(metrics: readonly string[], metric = ""): string | undefined {
  const name = plain(metric);
  const beside = `${name.slice(0, name.lastIndexOf("/") + 1)}epoch${metric.slice(name.length)}`;
  return [beside, "epoch"].find((one) => metrics.includes(one)) ?? metrics.find(isEpoch);
}

/** Drawn elsewhere: on the axis. */
const AXES = new Set(["epoch"]);
const FIRST = ["train", "val", "eval", "test"];
const EVALUATION = /^eval\/([^/]+)\/(.+)$/;

/** `train/loss` is in the group `train`, `loss` in the group without a name; the groups people look at first are first. */
export function grouped(metrics: readonly string[], wanted = ""): Group[] {
  const groups = new Map<string, string[]>();
  for (const metric of metrics) {
    if (AXES.has(metric) || !fits(metric, wanted)) continue;
    const at = plain(metric).lastIndexOf("/");
    const name = at < 0 ? "" : metric.slice(0, at);
    const found = groups.get(name);
    if (found) found.push(metric);
    else groups.set(name, [metric]);
  }
  return [...groups]
    .map(([name, found]) => ({ name, metrics: found.sort(byName) }))
    .sort((one, other) => rank(one.name) - rank(other.name) || byName(one.name, other.name));
}

/** Without its tags, which may have slashes of their own: `loss{split="a/b"}`. */
function plain(metric: string): string {
  const at = metric.indexOf("{");
  return at < 0 ? metric : metric.slice(0, at);
}

const byName = (one: string, other: string): number => one.localeCompare(other, "en", { numeric: true });

function rank(name: string): number {
  const at = FIRST.findIndex((first) => name === first || name.startsWith(`${first}/`));
  return at >= 0 ? at : name === "" ? FIRST.length : FIRST.length + 1;
}

/** Every word of the filter is somewhere in the name. */
export function fits(metric: string, wanted: string): boolean {
  const name = metric.toLowerCase();
  return wanted.toLowerCase().split(/\s+/).every((word) => name.includes(word));
}

export interface Score {
  metric: string;
  evaluator: string;
  name: string;
}

/** Scores of checkpoints: `eval/<evaluator>/<metric>`. */
export function scoreOf(metric: string): Score | undefined {
  const found = EVALUATION.exec(metric);
  return found ? { metric, evaluator: found[1]!, name: found[2]! } : undefined;
}

/** The scores that belong on a curve: those of the same last name. */
export function scoresOn(metric: string, metrics: readonly string[]): Score[] {
  if (scoreOf(metric)) return [];
  const last = metric.slice(metric.lastIndexOf("/") + 1);
  return metrics.flatMap((other) => {
    const score = scoreOf(other);
    return score && score.name.slice(score.name.lastIndexOf("/") + 1) === last ? [score] : [];
  });
}

/** The same, and on the first of the training's results the checkpoints of evaluators that have no score yet: what waits,
 * runs or has failed is seen before anything has come out of it. */
export function marksOn(metric: string, metrics: readonly string[], evaluations: readonly Evaluated[] | undefined): Score[] {
  const found = scoresOn(metric, metrics);
  if (!evaluations?.length || metric !== leading(metrics)) return found;
  const heard = new Set(metrics.flatMap((other) => scoreOf(other)?.evaluator ?? []));
  const silent = [...new Set(evaluations.filter((one) => one.state !== "done" && one.step !== null).map((one) => one.evaluator))].filter((evaluator) => !heard.has(evaluator));
  return [...found, ...silent.map((evaluator) => ({ metric: `eval/${evaluator}`, evaluator, name: "" }))];
}

function leading(metrics: readonly string[]): string | undefined {
  const own = metrics.filter((metric) => !scoreOf(metric) && !isEpoch(metric));
  return prominent(own.map((name) => ({ name, runs: 1 })))[0]?.name;
}
