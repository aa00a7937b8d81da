import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, get, isAbort } from "~/api/client";
import type { Printed } from "~/api/about";
import { useLive } from "~/live/live";
import { earlier, goOn, later, NOTHING, opened, type Held } from "~/page/run/log/pages";

const PAGE = 128 << 10;
const EVERY_MS = 200;

export interface Reading {
  held: Held;
  error: ApiError | undefined;
  waiting: boolean;
  /** Each answers with how many rows came before what was there. */
  before: () => Promise<number>;
  after: () => Promise<void>;
  goTo: (offset: number) => Promise<void>;
  toEnd: () => Promise<void>;
}

/** An output file, read page by page from wherever somebody looks, and at its end as it grows. */
export function useReading(run: string, attempt: number | undefined, rank: number, live: boolean): Reading {
  const [held, setHeld] = useState<Held>(NOTHING);
  const [error, setError] = useState<ApiError>();
  const [waiting, setWaiting] = useState(true);
  const now = useRef(held);
  const busy = useRef<Promise<unknown> | undefined>(undefined);
  const stop = useRef(new AbortController());
  const keep = (next: Held): void => {
    now.current = next;
    setHeld(next);
  };
  const ask = (where: Record<string, number>): Promise<Printed> =>
    get<Printed>(`/runs/${encodeURIComponent(run)}/output`, { attempt, rank, raw: true, limit: PAGE, ...where }, stop.current.signal);
  /** One after the other: pages must fit together. */
  const inTurn = async <T>(what: () => Promise<T>): Promise<T | undefined> => {
    while (busy.current) await busy.current.catch(() => undefined);
    const doing = what();
    busy.current = doing;
    try {
      const found = await doing;
      setError(undefined);
      return found;
    } catch (said) {
      if (!isAbort(said)) setError(said instanceof ApiError ? said : new ApiError(0, String(said), "", ""));
      return undefined;
    } finally {
      busy.current = undefined;
    }
  };
  const toEnd = async (): Promise<void> => {
    await inTurn(async () => keep(opened(await ask({ lines: 2000 }))));
    setWaiting(false);
  };
  const goTo = async (offset: number): Promise<void> => {
    await inTurn(async () => {
      const behind = await ask({ after: offset });
      const start = opened(behind);
      keep(offset > 0 ? earlier(start, await ask({ before: offset, limit: 16 << 10 })) : start);
    });
  };
  const before = async (): Promise<number> => {
    if (now.current.start <= 0) return 0;
    const found = await inTurn(async () => {
      const old = now.current;
      const next = earlier(old, await ask({ before: old.start }));
      keep(next);
      return next.start < old.start ? next.lines.findIndex((row) => row.at === old.start) : 0;
    });
    return Math.max(0, found ?? 0);
  };
  const after = async (): Promise<void> => {
    await inTurn(async () => {
      const old = now.current;
      const page = await ask({ after: goOn(old) });
      keep(page.size < old.end ? opened(await ask({ lines: 2000 })) : later(old, page));
    });
  };
  useEffect(() => {
    stop.current = new AbortController();
    busy.current = undefined;
    keep(NOTHING);
    setWaiting(true);
    void toEnd();
    return () => stop.current.abort();
  }, [run, attempt, rank]);
  const timer = useRef(0);
  const grown = (size: number): void => {
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => {
      const old = now.current;
      // Who looks at an earlier part is only told that there is more.
      if (old.end >= old.size) void after();
      else keep({ ...old, size: Math.max(old.size, size) });
    }, EVERY_MS);
  };
  useLive({ output: live ? [run] : [] }, (kind, data: { run: string; size: number; attempt: number }) => {
    if (live && (kind === "hello" || kind === "resync")) grown(0); // perhaps, before the stream was there
    if (kind === "output" && data.run === run) grown(data.size);
  });
  // With the end comes the last that was printed, and the stream may have been given up before it told of that.
  const lived = useRef(live);
  useEffect(() => {
    if (lived.current && !live) grown(0);
    lived.current = live;
  }, [live]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return { held, error, waiting, before, after, goTo, toEnd };
}
