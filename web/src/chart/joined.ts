import type { Raw } from "~/chart/axis";
import { place, type Range } from "~/chart/line";

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

/** A part in detail inside of the whole: lines go on to the edge, and zooming out has something to show at once. */
export function spliced(whole: Raw, part: Raw, [first, last]: Range): Raw {
  const from = place(whole.steps, first);
  let to = place(whole.steps, last);
  while (to < whole.steps.length && whole.steps[to]! <= last) to += 1;
  const put = <T>(all: readonly T[], some: readonly T[]): T[] => [...all.slice(0, from), ...some, ...all.slice(to)];
  return {
    steps: put(whole.steps, part.steps),
    values: put(whole.values, part.values),
    times: whole.times && part.times && put(whole.times, part.times),
    count: whole.count,
  };
}
