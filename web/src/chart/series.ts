/** Series of runs: fetched in as many points as can be seen, fetched again for a part that is zoomed into, and live. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, get, isAbort } from "~/api/client";
import type { Num, SeriesList } from "~/api/types";
import type { Raw } from "~/chart/axis";
import { joined, spliced } from "~/chart/joined";
import type { Range } from "~/chart/line";
import { useLive } from "~/live/live";
import { toNumber } from "~/text/format";

export interface Wanted {
  runs: readonly string[];
  metrics: readonly string[];
  /** The steps that are seen; all of them else. */
  range?: Range | undefined;
  points?: number;
  times?: boolean;
  /** Those of the runs that still write. */
  live?: readonly string[];
  /** Not now: what is not on the screen is not fetched. */
  rest?: boolean;
}

export interface Held {
  /** By seriesKey(run, metric). */
  all: ReadonlyMap<string, Raw>;
  waiting: boolean;
  error: ApiError | undefined;
}

export const seriesKey = (run: string, metric: string): string => `${run}\n${metric}`;
const AT_ONCE = 40; // runs in one request
const QUIET_MS = 150; // a zoom that goes on is waited for
const FOLLOWED = 60; // series at most: a server follows 200 things for one page

export function useSeries(wanted: Wanted): Held {
  const { runs, metrics, range, points = 1500, times = false, rest = false } = wanted;
  const [held, setHeld] = useState<Held>({ all: new Map(), waiting: true, error: undefined });
  const key = JSON.stringify([runs, metrics, range, points, times]);
  const base = JSON.stringify([runs, metrics, times]);
  const whole = useRef<Whole>({ key: "", all: new Map() });
  const first = useRef(true);
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (rest || runs.length === 0 || metrics.length === 0) {
      setHeld((before) => ({ ...before, waiting: rest }));
      return;
    }
    const stop = new AbortController();
    const ends: Range | undefined = range && [Math.floor(range[0]), Math.ceil(range[1])];
    const timer = setTimeout(() => {
      fetchPart(whole, base, ends, (within) => fetchAll(runs, metrics, { points, times, ...within }, stop.signal)).then(
        (all) => !stop.signal.aborted && setHeld({ all, waiting: false, error: undefined }),
        (error: unknown) => {
          if (isAbort(error) || stop.signal.aborted) return;
          const said = error instanceof ApiError ? error : new ApiError(0, String(error), "", "");
          setHeld((before) => ({ ...before, waiting: false, error: said }));
        },
      );
    }, first.current ? 0 : QUIET_MS);
    first.current = false;
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key, rest, turn]);
  useFollowed(wanted, setHeld, () => setTurn((n) => n + 1));
  return held;
}

interface Whole { key: string; all: Map<string, Raw> }

/** What is zoomed into, in detail, and the rest of the whole around it, which is fetched once. */
async function fetchPart(whole: { current: Whole }, key: string, ends: Range | undefined, ask: (within: { first?: number; last?: number }) => Promise<Map<string, Raw>>): Promise<Map<string, Raw>> {
  if (!ends || whole.current.key !== key) whole.current = { key, all: await ask({}) };
  if (!ends) return whole.current.all;
  const parts = await ask({ first: ends[0], last: ends[1] });
  const empty: Raw = { steps: [], values: [], times: [], count: 0 };
  return new Map([...whole.current.all].map(([name, all]) => [name, spliced(all, parts.get(name) ?? empty, ends)]));
}

/** One request holds the same metrics of many runs; several are under way at a time. */
export async function fetchAll(runs: readonly string[], metrics: readonly string[], params: Record<string, number | boolean | undefined>, signal?: AbortSignal): Promise<Map<string, Raw>> {
  const parts: Promise<SeriesList>[] = [];
  for (let at = 0; at < runs.length; at += AT_ONCE) {
    parts.push(get<SeriesList>("/series", { run: runs.slice(at, at + AT_ONCE), metric: metrics, ...params }, signal).catch((error: unknown) => {
      // None of these runs has the metric: the others may.
      if (error instanceof ApiError && error.code === "MetricNotFound") return { series: [] };
      throw error;
    }));
  }
  const found = new Map<string, Raw>();
  for (const { series } of await Promise.all(parts)) {
    for (const one of series) {
      found.set(seriesKey(one.run, one.metric), { steps: one.steps, values: one.values.map(toNumber), times: one.times ?? undefined, count: one.count });
    }
  }
  return found;
}

interface PointsEvent { run: string; metric: string; steps: number[]; values: Num[]; times: number[] }

function useFollowed(wanted: Wanted, setHeld: (change: (before: Held) => Held) => void, again: () => void): void {
  const { live = [], metrics, points = 1500, rest = false } = wanted;
  const topics = useMemo(
    () => (rest ? [] : live.flatMap((run) => metrics.map((metric) => `${run}:${metric}`)).slice(0, FOLLOWED)),
    [live.join(), metrics.join("\n"), rest],
  );
  const news = useRef<PointsEvent[]>([]);
  const frame = useRef(0);
  const mine = new Set(topics);
  useLive({ points: topics }, (kind, data: PointsEvent) => {
    if (kind === "resync" || (kind === "hello" && topics.length > 0)) again();
    if (kind !== "points" || !mine.has(`${data.run}:${data.metric}`)) return;
    news.current.push(data);
    cancelAnimationFrame(frame.current);
    frame.current = requestAnimationFrame(() => {
      const come = news.current.splice(0);
      let grown = false;
      setHeld((before) => {
        const all = new Map(before.all);
        for (const one of come) {
          const key = seriesKey(one.run, one.metric);
          const next = joined(all.get(key) ?? { steps: [], values: [], times: [], count: 0 }, one.steps, one.values.map(toNumber), one.times);
          all.set(key, next);
          grown ||= next.steps.length > 3 * points;
        }
        return { ...before, all };
      });
      if (grown) again(); // long enough to be thinned anew
    });
  });
}
