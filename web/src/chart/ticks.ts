/** Round numbers for an axis. Pure. */
import type { Range } from "~/chart/line";

/** Seconds between two labels of a time: as clocks count, not as hands do. */
export const TIMES: readonly number[] = [
  ...Array.from({ length: 9 }, (_, at) => [1, 2, 5].map((n) => Number(`${n}e${at - 9}`))).flat(),
  ...[1, 2, 5, 10, 20, 30], ...[1, 2, 5, 10, 20, 30].map((n) => n * 60), ...[1, 2, 3, 6, 12].map((n) => n * 3600),
  ...Array.from({ length: 6 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power * 86400)).flat(),
];

export function ticks([low, high]: Range, log = false, about = 5, seconds = false): number[] {
  if (log) return powers(low, high, about);
  const step = seconds ? TIMES.find((size) => size >= (high - low) / Math.max(1, about)) : undefined;
  return step === undefined ? rounds(low, high, about) : multiples(low, high, step);
}

function rounds(low: number, high: number, about: number): number[] {
  const rough = (high - low) / Math.max(1, about);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= rough * 0.999)!;
  return multiples(low, high, step);
}

function multiples(low: number, high: number, step: number): number[] {
  const found: number[] = [];
  for (let at = Math.ceil(low / step - 1e-9); at * step <= high + step * 1e-9; at += 1) found.push(Number((at * step).toPrecision(12)));
  return found;
}

function powers(low: number, high: number, about: number): number[] {
  const [from, to] = [Math.ceil(Math.log10(low) - 1e-9), Math.floor(Math.log10(high) + 1e-9)];
  if (to - from < 1) return rounds(low, high, about);
  const stride = Math.max(1, Math.ceil((to - from) / about));
  const found: number[] = [];
  for (let at = from; at <= to; at += stride) found.push(10 ** at);
  return found;
}
