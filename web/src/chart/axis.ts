/** What stands on the x axis: the step, the time since the run began, the time of day, or the epoch. Pure. */
import type { XKind } from "~/chart/plot";
import { place, type Range } from "~/chart/line";

export type Axis = "step" | "time" | "wall" | "epoch";
export const AXES: readonly (readonly [Axis, string])[] = [["step", "step"], ["time", "time"], ["wall", "clock"], ["epoch", "epoch"]];

export function isAxis(text: string): text is Axis {
  return AXES.some(([axis]) => axis === text);
}

export function kindOf(axis: Axis): XKind {
  return axis === "time" ? "seconds" : axis === "wall" ? "moment" : "number";
}

/** What is counted on the axis, if something is: there are no halves of a step. */
export const counted = (axis: Axis): { counts?: "step" | "epoch" } => (axis === "step" || axis === "epoch" ? { counts: axis } : {});

export interface Raw {
  steps: readonly number[];
  values: readonly number[];
  times?: readonly number[] | undefined;
  /** How many there are between the steps that were asked for. */
  count: number;
}

/** The places of a series on the axis. Without what the axis needs there are none: a wrong place is worse. */
export function places(series: Raw, axis: Axis, began: number, epochs?: Raw): readonly number[] {
  if (axis === "step") return series.steps;
  if (axis === "epoch") return epochs && epochs.steps.length > 0 ? series.steps.map((step) => between(epochs, step)) : [];
  const times = series.times ?? [];
  return ascending(axis === "time" ? times.map((time) => time - began) : [...times]);
}

/** A point that was written late, such as an evaluation, does not turn the line around. */
function ascending(values: number[]): number[] {
  for (let at = 1; at < values.length; at += 1) if (values[at]! < values[at - 1]!) values[at] = values[at - 1]!;
  return values;
}

/** A value between the two points around a step; beyond the ends it goes on as it did there. */
export function between({ steps, values }: Raw, step: number): number {
  const last = steps.length - 1;
  if (last === 0) return values[0]!;
  const right = Math.min(last, Math.max(1, place(steps, step)));
  const [s0, s1, v0, v1] = [steps[right - 1]!, steps[right]!, values[right - 1]!, values[right]!];
  return s1 === s0 ? v1 : v0 + ((v1 - v0) * (step - s0)) / (s1 - s0);
}

/** The steps of a series that a part of the axis shows, with one more on each side; undefined when it shows none. */
export function stepsWithin(series: Raw, x: readonly number[], zoom: Range): Range | undefined {
  if (x.length === 0) return undefined;
  const from = Math.max(0, place(x, zoom[0]) - 1);
  const to = Math.min(x.length - 1, place(x, zoom[1]));
  if (x[from]! > zoom[1] || x[to]! < zoom[0]) return undefined;
  return [series.steps[from]!, series.steps[to]!];
}
