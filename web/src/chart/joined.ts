import type { Raw } from "~/chart/axis";

/** With new points, which may be of any step; the last written value of a step counts. */
export function joined(old: Raw, steps: readonly number[], values: readonly number[], times: readonly number[]): Raw {
  const last = old.steps.at(-1) ?? -Infinity;
  const ordered = steps.every((step, at) => step > (at === 0 ? last : steps[at - 1]!));
  if (ordered) {
    return {
      steps: [...old.steps, ...steps],
      values: [...old.values, ...values],
      times: old.times && [...old.times, ...times],
      count: old.count + steps.length,
    };
  }
  const all = new Map<number, [value: number, time: number]>();
  old.steps.forEach((step, at) => all.set(step, [old.values[at]!, old.times?.[at] ?? NaN]));
  const known = all.size;
  steps.forEach((step, at) => all.set(step, [values[at]!, times[at] ?? NaN]));
  const sorted = [...all].sort((one, other) => one[0] - other[0]);
  return {
    steps: sorted.map(([step]) => step),
    values: sorted.map(([, [value]]) => value),
    times: old.times && sorted.map(([, [, time]]) => time),
    count: old.count + all.size - known,
  };
}
