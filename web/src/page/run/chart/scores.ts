/** Evaluations of checkpoints as points of a chart: those that are done at their value, the others on the curve. Pure. */
import type { Evaluated } from "~/api/about";
import { between, places, type Axis, type Raw } from "~/chart/axis";
import type { Dot } from "~/chart/line";
import type { Score } from "~/page/run/chart/groups";
import { toNumber } from "~/text/format";
import type { Num } from "~/api/types";

export interface Scored {
  x: number[];
  y: number[];
  dots: Dot[];
}

/** Without a ledger: what was logged under the name of the score. */
export function logged(raw: Raw, axis: Axis, began: number, epochs?: Raw): Scored {
  const x = [...places(raw, axis, began, epochs)];
  return { x, y: [...raw.values], dots: x.map((_, at) => ({ text: `step ${raw.steps[at]}` })) };
}

/** The scores of one evaluator, by step. `curve` is the training's, where points without a value are put. */
export function scored(
  evaluations: readonly Evaluated[], score: Score, best: readonly string[], curve: Raw | undefined, place: (step: number, time: number | null) => number,
): Scored {
  const own = evaluations
    .filter((one) => one.evaluator === score.evaluator && one.step !== null)
    .sort((one, other) => one.step! - other.step!);
  const found: Scored = { x: [], y: [], dots: [] };
  for (const one of own) {
    const value = one.values[score.name];
    const known = typeof value === "number" || value === "inf" || value === "-inf";
    if (!known && (one.state === "done" || !curve || curve.steps.length === 0)) continue;
    const x = place(one.step!, one.ended ?? one.found);
    if (!Number.isFinite(x)) continue;
    found.x.push(x);
    found.y.push(known ? toNumber(value as Num) : between(curve!, one.step!));
    found.dots.push({ text: said(one), look: look(one, best) });
  }
  return ordered(found);
}

function look(one: Evaluated, best: readonly string[]): NonNullable<Dot["look"]> {
  if (one.state === "done") return best.includes(one.checkpoint) ? "best" : "full";
  return one.state === "pending" || one.state === "running" ? "hollow" : "cross";
}

export const baseName = (path: string): string => path.replace(/\/+$/, "").split("/").at(-1) ?? path;

/** As one names it who stands in the directory. */
export function within(directory: string, path: string): string {
  if (!directory) return baseName(path);
  const base = `${directory.replace(/\/+$/, "")}/`;
  return path.startsWith(base) && path.length > base.length ? path.slice(base.length).replace(/\/+$/, "") : baseName(path);
}

function said(one: Evaluated): string {
  const reason = one.reason && one.state !== "done" ? `: ${one.reason.slice(0, 120)}` : "";
  return `${baseName(one.checkpoint)}, ${one.state}${reason}`;
}

/** A chart wants its places ascending, and over time a late evaluation is not. */
function ordered({ x, y, dots }: Scored): Scored {
  const order = x.map((_, at) => at).sort((one, other) => x[one]! - x[other]!);
  return { x: order.map((at) => x[at]!), y: order.map((at) => y[at]!), dots: order.map((at) => dots[at]!) };
}
