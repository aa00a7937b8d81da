/** Which of the runs come first: those that somebody should look at. Pure. */
import type { NowRun } from "~/api/now";

export interface Sorted {
  trouble: NowRun[];
  running: NowRun[];
  ended: NowRun[];
}

export function sorted(runs: readonly NowRun[]): Sorted {
  const found: Sorted = { trouble: [], running: [], ended: [] };
  for (const run of runs) {
    // One that waits for an answer stands still for a reason, which is above all of them.
    const asks = run.state === "running" && run.questions > 0;
    if ((run.stalled && !asks) || run.state === "lost") found.trouble.push(run);
    else if (run.state === "running") found.running.push(run);
    else if (run.state !== "queued" && run.state !== "paused") found.ended.push(run);
  }
  // A stalled run can still be saved; a lost one is over.
  found.trouble.sort((one, other) => Number(other.stalled) - Number(one.stalled) || (other.silence ?? 0) - (one.silence ?? 0));
  return found;
}

/** Why it is among them, in words. */
export function troubleOf(run: NowRun, say: (seconds: number) => string): string {
  if (run.stalled) {
    const usual = run.step_seconds ? `; a step takes ${say(run.step_seconds)}` : "";
    return `no step for ${say(run.silence ?? 0)}${usual}`;
  }
  return run.reason || "its process is gone and said nothing";
}
