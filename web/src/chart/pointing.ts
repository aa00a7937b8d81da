import type uPlot from "uplot";
import { nearest, type Line } from "~/chart/line";

export interface Row {
  key: string;
  label: string;
  color: string;
  value: number;
  text: string;
  /** In pixels, from the cursor. */
  away: number;
  spread?: number;
}

const SHOWN = 12;
const NEAR = 24;

/** What lies under the cursor, the nearest line first; `near` when that is really pointed at. */
export function pointedAt(plot: uPlot, lines: readonly Line[], left: number, top: number): { at: number; rows: Row[]; more: number; near: boolean } | undefined {
  const wanted = plot.posToVal(left, "x");
  let at = wanted;
  let closest = Infinity;
  const rows: Row[] = [];
  for (const line of lines) {
    const index = nearest(line.x, wanted);
    const value = line.y[index];
    if (index < 0 || value === undefined || value !== value) continue;
    const aside = Math.abs(plot.valToPos(line.x[index]!, "x") - left);
    if (aside > (line.dots ? NEAR / 2 : 60)) continue; // the line has ended long before
    if (aside < closest) {
      closest = aside;
      at = line.x[index]!;
    }
    const row: Row = { key: line.key, label: line.label, color: line.color, value, text: line.dots?.[index]?.text ?? "", away: Math.abs(plot.valToPos(value, "y") - top) };
    if (line.band && !line.area) row.spread = (line.band.high[index]! - line.band.low[index]!) / 2;
    rows.push(row);
  }
  if (rows.length === 0) return undefined;
  rows.sort((one, other) => one.away - other.away);
  return { at, rows: rows.slice(0, SHOWN), more: Math.max(0, rows.length - SHOWN), near: rows[0]!.away < NEAR && lines.length > 1 };
}
