/** A run with what an event says of it. Pure. */
import type { Detail, Run, RunsEvent, Stat } from "~/api/types";

export function changedRun(run: Run, event: RunsEvent): Run {
  const found = event.changed.find((one) => one.id === run.id) ?? event.new.find((one) => one.id === run.id);
  if (!found) return run;
  const metrics: Record<string, Stat> = { ...run.metrics };
  for (const [name, stat] of Object.entries(found.metrics ?? {}) as [string, Stat | null][]) {
    if (stat === null) delete metrics[name];
    else metrics[name] = stat;
  }
  return { ...run, ...found, metrics };
}

export function changedDetail(detail: Detail, event: RunsEvent): Detail {
  const run = changedRun(detail.run, event);
  return run === detail.run ? detail : { ...detail, run };
}
