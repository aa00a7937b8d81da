/** Processes on top of each other. Pure. */
import type { Used } from "~/api/about";
import type { Line } from "~/chart/line";
import { toNumber } from "~/text/format";

const MOST = 11;

/** One area for each process, the largest at the bottom; beyond some the rest are one. Places are the middles of bins, and the ends. */
export function stacked(processes: readonly Used[], metric: string, begin: number, width: number, origin: number, color: (index: number) => string): Line[] {
  const all = processes
    .filter((one) => (one.series[metric]?.length ?? 0) > 0)
    .map((one) => ({ label: one.label, values: one.series[metric]!.map((value) => Math.max(0, toNumber(value) || 0)) }))
    .map((one) => ({ ...one, sum: one.values.reduce((sum, value) => sum + value, 0) }))
    .sort((one, other) => other.sum - one.sum);
  const shown = all.length > MOST ? [...all.slice(0, MOST - 1), rest(all.slice(MOST - 1))] : all;
  const bins = Math.max(0, ...shown.map((one) => one.values.length));
  const middles = Array.from({ length: bins }, (_, at) => begin + (at + 0.5) * width - origin);
  const x = [begin - origin, ...middles, begin + bins * width - origin];
  let low = new Array<number>(bins + 2).fill(0);
  return shown.map((one, index) => {
    const y = [one.values[0] ?? 0, ...Array.from({ length: bins }, (_, at) => one.values[at] ?? 0), one.values[bins - 1] ?? 0];
    const high = low.map((under, at) => under + y[at]!);
    const line: Line = { key: one.label, label: one.label, color: color(index), x, y, band: { low, high }, area: true };
    low = high;
    return line;
  });
}

function rest(some: readonly { values: number[]; sum: number }[]): { label: string; values: number[]; sum: number } {
  const bins = Math.max(...some.map((one) => one.values.length));
  const values = Array.from({ length: bins }, (_, at) => some.reduce((sum, one) => sum + (one.values[at] ?? 0), 0));
  return { label: `${some.length} others`, values, sum: 0 };
}
