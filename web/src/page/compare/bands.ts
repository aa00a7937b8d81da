import { useEffect, useRef, useState } from "preact/hooks";
import type { Band } from "~/api/board";
import { ApiError, get, isAbort } from "~/api/client";
import type { Range } from "~/chart/line";

const QUIET_MS = 150;

/** Mean and spread of a metric over each team, made by the server from every point. */
export function useBands(metric: string, teams: readonly (readonly string[])[], range: Range | undefined, points: number, rest: boolean, written: number): { bands: Band[] | undefined; error: ApiError | undefined } {
  const [held, setHeld] = useState<{ bands: Band[] | undefined; error: ApiError | undefined }>({ bands: undefined, error: undefined });
  const first = useRef(true);
  const groups = teams.map((team) => team.join(","));
  useEffect(() => {
    if (rest || groups.length === 0) return;
    const stop = new AbortController();
    const within = range ? { first: Math.floor(range[0]), last: Math.ceil(range[1]) } : {};
    const timer = setTimeout(() => {
      get<{ bands: Band[] }>("/bands", { metric, group: groups, points, ...within }, stop.signal).then(
        ({ bands }) => setHeld({ bands, error: undefined }),
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
