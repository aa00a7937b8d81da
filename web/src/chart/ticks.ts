/** Round numbers for an axis. Pure. */
import type { Range } from "~/chart/line";

export function ticks([low, high]: Range, log = false, about = 5): number[] {
  return log ? powers(low, high, about) : rounds(low, high, about);
}

function rounds(low: number, high: number, about: number): number[] {
  const rough = (high - low) / Math.max(1, about);
  if (!(rough > 0) || !Number.isFinite(rough)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((size) => size >= rough * 0.999)!;
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
