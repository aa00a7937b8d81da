/** Which requests are made for the series that charts want: many in one, the first ones soon. Pure. */
import type { Range } from "~/chart/line";

export interface Want {
  metric: string;
  range: Range | undefined;
}

export interface Request {
  metrics: string[];
  range: Range | undefined;
}

/** The first request is small, so that something is seen at once; the others are as large as is good for a server. */
export function requests(wants: readonly Want[], first = 6, most = 12): Request[] {
  const byRange = new Map<string, Request>();
  for (const { metric, range } of wants) {
    const key = range ? range.join("~") : "";
    const known = byRange.get(key);
    if (known) known.metrics.push(metric);
    else byRange.set(key, { metrics: [metric], range });
  }
  const found: Request[] = [];
  for (const { metrics, range } of byRange.values()) {
    let at = 0;
    while (at < metrics.length) {
      const size = found.length === 0 ? first : most;
      found.push({ metrics: metrics.slice(at, at + size), range });
      at += size;
    }
  }
  return found;
}

/** Whole steps, with one more on each side so that lines go on to the edge. */
export function wholeSteps(range: Range): Range {
  return [Math.floor(range[0]), Math.ceil(range[1])];
}
