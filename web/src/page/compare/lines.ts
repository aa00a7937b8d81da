/** Series and bands as lines of a chart. Pure. */
import type { Band } from "~/api/board";
import type { Raw } from "~/chart/axis";
import { color, DASHES } from "~/chart/colors";
import type { Line } from "~/chart/line";
import { ema, spacingOf } from "~/chart/smooth";
import type { Placed } from "~/page/compare/facets";
import type { Team } from "~/page/compare/properties";
import { toNumber } from "~/text/format";

export const label = (team: Team): string => (team.members.length > 1 ? `${team.label} (n=${team.members.length})` : team.label);

export function curveLine(team: Team, raw: Raw, x: readonly number[], smooth: number): Line {
  const base = { key: team.key, label: team.label, color: "", x };
  if (smooth <= 0) return { ...base, y: raw.values };
  return { ...base, y: ema(raw.values, smooth, raw.steps, spacingOf(raw.steps, raw.count)), raw: raw.values };
}

export function bandLine(team: Team, band: Band, smooth: number): Line {
  const soft = (values: number[]): number[] => (smooth > 0 ? ema(values, smooth, band.steps, spacingOf(band.steps, band.steps.length)) : values);
  const mean = soft(band.mean.map(toNumber));
  // One run alone has no spread: its band is as thin as its line.
  const std = soft(band.std.map((value) => (value === null ? 0 : toNumber(value))));
  return {
    key: team.key, label: label(team), color: "", x: band.steps, y: mean, width: 2,
    band: { low: mean.map((value, at) => value - std[at]!), high: mean.map((value, at) => value + std[at]!) },
  };
}

/** In the colours and dashes of their places. */
export function placedLines(placed: readonly Placed[], drawn: ReadonlyMap<string, Line>, dark: boolean): Line[] {
  return placed.flatMap(({ team, hue, dash }) => {
    const line = drawn.get(team.key);
    return line ? [{ ...line, color: color(hue, dark), dash: DASHES[dash % DASHES.length]! }] : [];
  });
}
