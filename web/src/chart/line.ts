/** What a chart draws, and what can be asked of it. Pure. */

export interface Band {
  low: readonly number[];
  high: readonly number[];
}

export interface Line {
  /** Tells lines apart, also over time. */
  key: string;
  label: string;
  color: string;
  /** Lengths of strokes and gaps in pixels. */
  dash?: readonly number[];
  /** Ascending. */
  x: readonly number[];
  /** NaN is a gap with a mark at the bottom. */
  y: readonly number[];
  band?: Band;
  /** Points instead of a line, such as evaluations; each may have a text and a hollow or crossed look. */
  dots?: readonly Dot[];
  width?: number;
  /** Drawn beneath, thin and pale, when `y` is a smoothed version of it. */
  raw?: readonly number[];
  /** The band alone, as in stacked areas. */
  area?: boolean;
}

export interface Dot {
  text?: string;
  look?: "full" | "hollow" | "cross" | "best";
}

export type Range = readonly [number, number];

/** The least and the greatest number that is finite (and above zero for a logarithm); undefined when there is none. */
export function extent(values: readonly number[], log = false, from = 0, to = values.length): Range | undefined {
  let low = Infinity;
  let high = -Infinity;
  for (let at = from; at < to; at += 1) {
    const value = values[at]!;
    if (!(Math.abs(value) < Infinity) || (log && value <= 0)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : undefined;
}

/** Where the first of the ascending values is that is not below `wanted`. */
export function place(values: readonly number[], wanted: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle]! < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The place whose value is nearest to `wanted`; -1 when there is none. */
export function nearest(values: readonly number[], wanted: number): number {
  if (values.length === 0) return -1;
  const at = place(values, wanted);
  if (at === 0) return 0;
  if (at === values.length) return at - 1;
  return wanted - values[at - 1]! <= values[at]! - wanted ? at - 1 : at;
}

export function union(ranges: readonly (Range | undefined)[]): Range | undefined {
  let found: Range | undefined;
  for (const range of ranges) {
    if (range) found = found ? [Math.min(found[0], range[0]), Math.max(found[1], range[1])] : range;
  }
  return found;
}

export function rangeX(lines: readonly Line[], log = false): Range | undefined {
  return union(lines.map((line) => extent(line.x, log)));
}

/** Over what is seen: the points between two places, and one more on each side, so that no line leaves the picture. */
export function rangeY(lines: readonly Line[], x: Range, log = false): Range | undefined {
  return union(lines.flatMap((line) => {
    const from = Math.max(0, place(line.x, x[0]) - (line.dots ? 0 : 1));
    let to = place(line.x, x[1]);
    while (to < line.x.length && line.x[to]! <= x[1]) to += 1;
    to = Math.min(line.x.length, to + (line.dots ? 0 : 1));
    const columns = line.area && line.band ? [line.band.low, line.band.high] : [line.y, line.band?.low, line.band?.high];
    return columns.map((column) => column && extent(column, log, from, to));
  }));
}

/** From one round number to another, or the end of a logarithmic axis would be labelled `0.00170482`. */
export function rounded([low, high]: Range): Range {
  const [under, over] = [10 ** Math.floor(Math.log10(low)), 10 ** Math.floor(Math.log10(high))];
  return [Number((Math.floor(low / under + 1e-9) * under).toPrecision(1)), Number((Math.ceil(high / over - 1e-9) * over).toPrecision(2))];
}

/** With air above and below; a flat line gets some, too. */
export function padded([low, high]: Range, log = false, share = 0.05): Range {
  if (log) {
    const [from, to] = [Math.log10(low), Math.log10(high)];
    const air = (to - from || 1) * share;
    return [10 ** (from - air), 10 ** (to + air)];
  }
  const air = (high - low || Math.abs(high) || 1) * share;
  return [low - air, high + air];
}
