import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, isAbort } from "~/api/client";
import type { SeriesList } from "~/api/types";
import { toNumber } from "~/text/format";

const WIDTH = 112;
const HEIGHT = 20;
const POINTS = 60;
const QUIET_MS = 80;
const MOST = 2000;

/** Drawn once for a run and a metric; those of runs that still train are drawn again now and then. */
const known = new Map<string, { path: string; until: number }>();
const FRESH_MS = 5000;

/** The paths of the rows that are seen, by run. */
export function useSparks(metric: string, rows: readonly { id: string; live: boolean }[], version: number): ReadonlyMap<string, string> {
  const [, setTurn] = useState(0);
  const key = rows.map((row) => row.id).join();
  useEffect(() => {
    if (!metric) return;
    const now = performance.now();
    const missing = rows.filter((row) => (known.get(`${row.id} ${metric}`)?.until ?? 0) < now).map((row) => row.id);
    if (missing.length === 0) return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      get<SeriesList>("/series", { run: missing, metric, points: POINTS }, stop.signal).then(
        ({ series }) => {
          const live = new Set(rows.filter((row) => row.live).map((row) => row.id));
          const drawn = new Map(series.map((one) => [one.run, pathOf(one.steps, one.values.map(toNumber))]));
          for (const id of missing) {
            known.set(`${id} ${metric}`, { path: drawn.get(id) ?? "", until: live.has(id) ? performance.now() + FRESH_MS : Infinity });
          }
          for (const old of [...known.keys()].slice(0, Math.max(0, known.size - MOST))) known.delete(old);
          setTurn((n) => n + 1);
        },
        (error: unknown) => {
          if (isAbort(error)) return;
          for (const id of missing) known.set(`${id} ${metric}`, { path: "", until: performance.now() + FRESH_MS });
        },
      );
    }, QUIET_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [metric, key, version]);
  return new Map(rows.map((row) => [row.id, known.get(`${row.id} ${metric}`)?.path ?? ""]));
}

export function Spark({ path }: { path: string | undefined }): JSX.Element {
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {path && <path d={path} fill="none" stroke="var(--accent)" stroke-width="1.3" stroke-linejoin="round" />}
    </svg>
  );
}

export function pathOf(steps: readonly number[], values: readonly number[]): string {
  const numbers = values.filter(Number.isFinite);
  if (numbers.length === 0) return "";
  const [low, high] = [Math.min(...numbers), Math.max(...numbers)];
  const [first, last] = [steps[0]!, steps.at(-1)!];
  const x = (step: number): number => 1 + ((step - first) / (last - first || 1)) * (WIDTH - 2);
  const y = (value: number): number => (high === low ? HEIGHT / 2 : HEIGHT - 2 - ((value - low) / (high - low)) * (HEIGHT - 4));
  let down = false;
  let path = "";
  values.forEach((value, at) => {
    if (!Number.isFinite(value)) {
      down = false;
      return;
    }
    path += `${down ? "L" : "M"}${x(steps[at]!).toFixed(1)} ${y(value).toFixed(1)}`;
    down = true;
  });
  return numbers.length === 1 ? `${path}h2` : path;
}
