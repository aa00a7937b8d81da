import { useEffect, useRef, useState } from "preact/hooks";
import type { Band } from "~/api/board";
import { Asking } from "~/api/asking";
import { get, type ApiError } from "~/api/client";
import { errorOf } from "~/api/fetched";
import type { Range } from "~/chart/line";

const QUIET_MS = 150;

/** Mean and spread of a metric over each team, made by the server from every point; again when more are `written`. */
export function useBands(metric: string, teams: readonly (readonly string[])[], range: Range | undefined, points: number, rest: boolean, written: number): { bands: Band[] | undefined; error: ApiError | undefined } {
  const [held, setHeld] = useState<{ bands: Band[] | undefined; error: ApiError | undefined }>({ bands: undefined, error: undefined });
  const first = useRef(true);
  const whole = useRef<{ key: string; bands: Band[] }>({ key: "", bands: [] });
  const asking = useRef<Asking<Band[]>>(undefined);
  const groups = teams.map((team) => team.join(","));
  const key = `${metric} ${groups.join(";")}`;
  const latest = useRef("");
  latest.current = `${key} ${written}`;
  useEffect(() => {
    if (rest || groups.length === 0) return;
    const ends: Range | undefined = range && [Math.floor(range[0]), Math.ceil(range[1])];
    const ask = async (within: { first?: number; last?: number }, signal: AbortSignal): Promise<Band[]> => (await get<{ bands: Band[] }>("/bands", { metric, group: groups, points, ...within }, signal)).bands;
    const fetchBands = async (signal: AbortSignal): Promise<Band[]> => {
      const now = latest.current;
      if (!ends || whole.current.key !== now) whole.current = { key: now, bands: await ask({}, signal) };
      if (!ends) return whole.current.bands;
      const parts = await ask({ first: ends[0], last: ends[1] }, signal);
      return whole.current.bands.map((band, at) => splicedBand(band, parts[at]!, ends));
    };
    const mine = new Asking<Band[]>(fetchBands, (bands) => setHeld({ bands, error: undefined }), (error) => setHeld((before) => ({ ...before, error: errorOf(error) })));
    const timer = setTimeout(() => {
      asking.current = mine;
      mine.again();
    }, first.current ? 0 : QUIET_MS);
    first.current = false;
    return () => {
      clearTimeout(timer);
      mine.stop();
      asking.current = undefined;
    };
  }, [key, range?.[0], range?.[1], points, rest]);
  useEffect(() => asking.current?.again(), [written]);
  return held;
}

/** A part in detail inside of the whole. */
function splicedBand(whole: Band, part: Band, [first, last]: Range): Band {
  const before = whole.steps.filter((step) => step < first).length;
  const behind = whole.steps.filter((step) => step <= last).length;
  const put = <T>(all: readonly T[], some: readonly T[]): T[] => [...all.slice(0, before), ...some, ...all.slice(behind)];
  return { runs: whole.runs, steps: put(whole.steps, part.steps), mean: put(whole.mean, part.mean), std: put(whole.std, part.std), n: put(whole.n, part.n) };
}
