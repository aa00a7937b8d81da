/** What a key or a turn of the wheel does to the part of the x axis that is shown. Pure. */
import type { Range } from "~/chart/line";

const STEP = 0.25; // of what is shown

/** The next part; undefined shows all of it, null is no key for charts. */
export function afterKey(key: string, [from, to]: Range, log: boolean): Range | undefined | null {
  if (key === "0") return undefined;
  const [low, high] = log ? [Math.log(from), Math.log(to)] : [from, to];
  const width = high - low;
  const moves: Record<string, Range> = {
    "+": [low + width * STEP, high - width * STEP],
    "=": [low + width * STEP, high - width * STEP],
    "-": [low - width / 2, high + width / 2],
    ArrowLeft: [low - width * STEP, high - width * STEP],
    ArrowRight: [low + width * STEP, high + width * STEP],
  };
  const next = Object.hasOwn(moves, key) ? moves[key]! : undefined;
  if (!next) return null;
  return log ? [Math.exp(next[0]), Math.exp(next[1])] : next;
}

/** `by` times as wide around the place (0 to 1, from the left) that is pointed at. */
export function afterWheel(by: number, place: number, [from, to]: Range, log: boolean): Range {
  const [low, high] = log ? [Math.log(from), Math.log(to)] : [from, to];
  const at = low + (high - low) * place;
  const next: Range = [at - (at - low) * by, at + (high - at) * by];
  return log ? [Math.exp(next[0]), Math.exp(next[1])] : next;
}
