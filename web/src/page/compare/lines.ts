/** Series and bands as lines of a chart. Pure. */
import type { Band } from "~/api/board";
import type { Run } from "~/api/types";
import { places, type Axis, type Raw } from "~/chart/axis";
import { color, DASHES } from "~/chart/colors";
import type { Line } from "~/chart/line";
import { seriesKey } from "~/chart/series";
import { ema, spacingOf } from "~/chart/smooth";
import { fold, type Folded } from "~/page/compare/fold";
import type { Placed } from "~/page/compare/facets";
import type { Team } from "~/page/compare/properties";
import { toNumber } from "~/text/format";

export const label = (team: Team): string => (team.members.length > 1 ? `${team.label} (n=${team.members.length})` : team.label);

export const FOLDED = 600; // places of a mean, at most

/** A series and its places on the axis. */
export interface Course {
  raw: Raw;
  x: readonly number[];
}

/** By the ids of the runs. `epoch` is the metric that counts them. */
export function coursesOf(runs: readonly Run[], all: ReadonlyMap<string, Raw>, metric: string, axis: Axis, epoch: string | undefined): Map<string, Course> {
  return new Map(runs.flatMap((run): [string, Course][] => {
    const raw = all.get(seriesKey(run.id, metric));
    const epochs = epoch ? all.get(seriesKey(run.id, epoch)) : undefined;
    return raw ? [[run.id, { raw, x: places(raw, axis, run.started ?? run.created, epochs) }]] : [];
  }));
}

/** One line for each team that has the metric: its only run's, or the mean of its runs with its spread. */
export function courseLines(teams: readonly Team[], ids: readonly string[], courses: ReadonlyMap<string, Course>, folded: boolean, smooth: number): Map<string, Line> {
  return new Map(teams.flatMap((team): [string, Line][] => {
    const own = team.members.flatMap((at) => courses.get(ids[at]!) ?? []);
    if (own.length === 0) return [];
    if (!folded) return [[team.key, curveLine(team, own[0]!.raw, own[0]!.x, smooth)]];
    return [[team.key, foldedLine(team, fold(own.map(({ raw, x }) => ({ x, y: raw.values })), FOLDED), smooth)]];
  }));
}

function curveLine(team: Team, raw: Raw, x: readonly number[], smooth: number): Line {
  const base = { key: team.key, label: team.label, color: "", x };
  if (smooth <= 0) return { ...base, y: raw.values };
  return { ...base, y: ema(raw.values, smooth, raw.steps, spacingOf(raw.steps, raw.count)), raw: raw.values };
}

function foldedLine(team: Team, { x, mean, std }: Folded, smooth: number): Line {
  const soft = (values: number[]): number[] => (smooth > 0 ? ema(values, smooth, x, spacingOf(x, x.length)) : values);
  return spreadLine(team, x, soft(mean), soft(std));
}

export function bandLine(team: Team, band: Band, smooth: number): Line {
  const soft = (values: number[]): number[] => (smooth > 0 ? ema(values, smooth, band.steps, spacingOf(band.steps, band.steps.length)) : values);
  const mean = soft(band.mean.map(toNumber));
  // One run alone has no spread: its band is as thin as its line.
  const std = soft(band.std.map((value) => (value === null ? 0 : toNumber(value))));
  return spreadLine(team, band.steps, mean, std);
}

function spreadLine(team: Team, x: readonly number[], mean: readonly number[], std: readonly number[]): Line {
  return {
    key: team.key, label: label(team), color: "", x, y: mean, width: 2,
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
