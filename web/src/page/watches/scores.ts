/** Scores of a watch over the steps: a line for each metric of each evaluator and training. Pure. */
import type { Evaluated } from "~/api/about";
import type { Dot } from "~/chart/line";
import type { Best } from "~/api/watch";
import { within } from "~/page/run/chart/scores";

export interface Track {
  key: string;
  run: string;
  evaluator: string;
  x: number[];
  y: number[];
  dots: Dot[];
}

/** Names such as `test/acc`, those that most checkpoints have first. */
export function metricsOf(evaluations: readonly Evaluated[]): string[] {
  const found = new Map<string, number>();
  for (const one of evaluations) {
    for (const [name, value] of Object.entries(one.values)) {
      if (typeof value === "number") found.set(`${one.evaluator}/${name}`, (found.get(`${one.evaluator}/${name}`) ?? 0) + 1);
    }
  }
  return [...found].sort((one, other) => other[1] - one[1] || one[0].localeCompare(other[0])).map(([name]) => name);
}

export function tracks(evaluations: readonly Evaluated[], metric: string, best: Best | null, directory = ""): Track[] {
  const found = new Map<string, { run: string; evaluator: string; points: { step: number; value: number; one: Evaluated }[] }>();
  for (const one of evaluations) {
    const name = metric.startsWith(`${one.evaluator}/`) ? metric.slice(one.evaluator.length + 1) : undefined;
    const value = name === undefined ? undefined : one.values[name];
    if (typeof value !== "number" || one.step === null) continue;
    const run = one.run ?? "";
    const known = found.get(run) ?? { run, evaluator: one.evaluator, points: [] };
    known.points.push({ step: one.step, value, one });
    found.set(run, known);
  }
  return [...found.values()].map(({ run, evaluator, points }) => {
    points.sort((one, other) => one.step - other.step);
    return {
      key: `${metric} ${run}`, run, evaluator,
      x: points.map((point) => point.step),
      y: points.map((point) => point.value),
      dots: points.map(({ one }) => ({ text: within(directory, one.checkpoint), look: best?.metric === metric && best.checkpoint === one.checkpoint ? ("best" as const) : ("full" as const) })),
    };
  });
}

export interface Row {
  checkpoint: string;
  step: number | null;
  run: string | null;
  found: number | null;
  /** By evaluator. */
  evaluations: Record<string, Evaluated>;
}

/** One row for each checkpoint, the newest step first. */
export function byCheckpoint(evaluations: readonly Evaluated[]): Row[] {
  const found = new Map<string, Row>();
  for (const one of evaluations) {
    const row = found.get(one.checkpoint) ?? { checkpoint: one.checkpoint, step: one.step, run: one.run, found: one.found, evaluations: {} };
    row.evaluations[one.evaluator] = one; // of a checkpoint that was written again the last content counts
    row.step ??= one.step;
    found.set(one.checkpoint, row);
  }
  return [...found.values()].sort((one, other) => (other.step ?? -1) - (one.step ?? -1) || other.checkpoint.localeCompare(one.checkpoint, "en", { numeric: true }));
}
