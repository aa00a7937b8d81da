/** The rows of the table: fetched window by window, and again when something has changed. */
import { useEffect, useRef, useState } from "preact/hooks";
import type { Table } from "~/api/board";
import { ApiError, get, isAbort } from "~/api/client";
import { useLive } from "~/live/live";
import { windows, type Seen } from "~/part/windowing";

const SIZE = 100;
const PAUSE_MS = 1000; // between two looks while runs are written

export interface Row {
  id: string;
  get: (key: string) => unknown;
}

export interface Rows {
  total: number | undefined;
  error: ApiError | undefined;
  row: (index: number) => Row | undefined;
  /** Ids of a stretch, fetched when they are not here. */
  ids: (from: number, to: number) => Promise<string[]>;
  again: () => void;
  version: number;
}

interface Held { key: string; total: number | undefined; windows: Map<number, Table>; error: ApiError | undefined; version: number }

export function useRows(q: string, sort: string, columns: readonly string[], part: Seen): Rows {
  const key = JSON.stringify([q, sort, columns]);
  const [held, setHeld] = useState<Held>({ key, total: undefined, windows: new Map(), error: undefined, version: 0 });
  const [turn, setTurn] = useState(0);
  const made = useRef(new Map<string, number>());
  const asked = useRef(0); // windows that are on their way
  const stale = useRef(false);
  const renewing = useRef(0);
  useEffect(() => () => clearTimeout(renewing.current), []);
  const need = held.total === undefined ? [0] : windows({ first: part.first, end: Math.max(part.first + 1, part.end) }, SIZE);
  // An order that is older than the runs: nothing may happen any more that would make us ask again.
  const renewAfter = (ms: number): void => {
    clearTimeout(renewing.current);
    renewing.current = window.setTimeout(() => setTurn((n) => n + 1), Math.max(PAUSE_MS, ms));
  };
  useEffect(() => {
    const stop = new AbortController();
    for (const number of need) {
      const name = `${key} ${number}`;
      if (made.current.get(name) === turn && held.key === key && held.windows.has(number)) continue;
      asked.current += 1;
      get<Table>("/table", { q, sort, column: columns.map((one) => one.replaceAll(",", "\\,")).join(","), offset: number * SIZE, limit: SIZE }, stop.signal).then(
        (table) => {
          if (stop.signal.aborted) return; // answered in the same moment as given up
          made.current.set(name, turn);
          if (table.renewed !== null) renewAfter(table.renewed * 1000);
          setHeld((before) => {
            const old = before.key === key ? before.windows : new Map<number, Table>();
            return { key, total: table.total, windows: new Map(old).set(number, table), error: undefined, version: table.version };
          });
        },
        (error: unknown) => {
          if (isAbort(error) || stop.signal.aborted) return;
          const said = error instanceof ApiError ? error : new ApiError(0, String(error), "", "");
          setHeld((before) => ({ ...before, error: said }));
        },
      ).finally(() => {
        asked.current -= 1;
        if (asked.current > 0 || !stale.current) return;
        stale.current = false;
        setTurn((n) => n + 1);
      });
    }
    return () => stop.abort();
  }, [key, turn, need.join()]);
  // Not while an answer is on its way: where news come faster than answers, none would ever be shown.
  usePaced(() => {
    if (asked.current > 0) stale.current = true;
    else setTurn((n) => n + 1);
  });
  const row = (index: number): Row | undefined => {
    const table = held.windows.get(Math.floor(index / SIZE));
    const at = index % SIZE;
    const id = table?.ids[at];
    return table && id !== undefined ? { id, get: (name) => table.columns[name]?.[at] } : undefined;
  };
  return {
    total: held.total,
    error: held.error,
    version: held.version,
    row,
    ids: async (from, to) => {
      const known = Array.from({ length: to - from }, (_, at) => row(from + at)?.id);
      if (known.every((id) => id !== undefined)) return known as string[];
      return (await get<Table>("/table", { q, sort, offset: from, limit: to - from })).ids;
    },
    again: () => setTurn((n) => n + 1),
  };
}

/** When runs change, but not more often than one can read. */
export function usePaced(look: () => void): void {
  const latest = useRef(look);
  latest.current = look;
  const last = useRef(0);
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLive({ kinds: ["runs"] }, (kind) => {
    if (!["hello", "resync", "runs"].includes(kind) || timer.current) return;
    const rest = Math.max(0, last.current + PAUSE_MS - performance.now());
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      last.current = performance.now();
      latest.current();
    }, rest);
  });
}
