import { useEffect, useRef, useState } from "preact/hooks";
import type { Band } from "~/api/board";
import { ApiError, get, isAbort } from "~/api/client";
import type { Range } from "~/chart/line";

const QUIET_MS = 150;

/** Mean and spread of a metric over each team, made by the server from every point. */
export function useBands(metric: string, teams: readonly (readonly string[])[], range: Range | undefined, points: number, rest: boolean, written: number): { bands: Band[] | undefined; error: ApiError | undefined } {
  const [held, setHeld] = useState<{ bands: Band[] | undefined; error: ApiError | undefined }>({ bands: undefined, error: undefined });
  const first = useRef(true);
  const whole = useRef<{ key: string; bands: Band[] }>({ key: "", bands: [] });
  const groups = teams.map((team) => team.join(","));
  useEffect(() => {
    if (rest || groups.length === 0) return;
    const stop = new AbortController();
    const ends: Range | undefined = range && [Math.floor(range[0]), Math.ceil(range[1])];
    const ask = async (within: { first?: number; last?: number }): Promise<Band[]> => (await get<{ bands: Band[] }>("/bands", { metric, group: groups, points, ...within }, stop.signal)).bands;
    const key = `${metric} ${groups.join(";")}`;
    const fetchBands = async (): Promise<Band[]> => {
      if (!ends || whole.current.key !== key) whole.current = { key, bands: await ask({}) };
      if (!ends) return whole.current.bands;
      const parts = await ask({ first: ends[0], last: ends[1] });
      return whole.current.bands.map((band, at) => splicedBand(band, parts[at]!, ends));
    };
    const timer = setTimeout(() => {
      fetchBands().then(
        (bands) => setHeld({ bands, error: undefined }),
        (error: unknown) => {
          if (!isAbort(error)) setHeld((before) => ({ ...before, error: error instanceof ApiError ? error : new ApiError(0, String(error), "", "") }));
        },
      );
    }, first.current ? 0 : QUIET_MS);
    first.current = false;
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [metric, groups.join(";"), range?.[0], range?.[1], points, rest, written]);
  return held;
}

/** A part in detail inside of the whole. */
function splicedBand(whole: Band, part: Band, [first, last]: Range): Band {
  const before = whole.steps.filter((step) => step < first).length;
  const behind = whole.steps.filter((step) => step <= last).length;
  const put = <T>(all: readonly T[], some: readonly T[]): T[] => [...all.slice(0, before), ...some, ...all.slice(behind)];
  return { runs: whole.runs, steps: put(whole.steps, part.steps), mean: put(whole.mean, part.mean), std: put(whole.std, part.std), n: put(whole.n, part.n) };
}
