import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError } from "~/api/client";
import { Asking } from "~/api/asking";

export interface Fetched<T> {
  /** The last answer, kept while the next is on its way: nothing jumps. */
  data: T | undefined;
  error: ApiError | undefined;
  /** There was no answer yet. */
  waiting: boolean;
  again: () => void;
  /** What an order was answered with stands for the next answer. */
  put: (data: T) => void;
  /** What an event says, done to the answer that is here and to one that is on its way. */
  change: (by: (data: T) => T) => void;
}

/** Ask when `key` changes, which gives up what was asked before, and when told to, which does not. */
export function useFetched<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): Fetched<T> {
  const [state, setState] = useState<{ key?: string; data?: T; error?: ApiError }>({});
  const latest = useRef(ask);
  latest.current = ask;
  const asking = useRef<Asking<T>>(undefined);
  useEffect(() => {
    const mine = new Asking<T>(
      (signal) => latest.current(signal),
      (data) => setState({ key, data }),
      (error) => setState((before) => ({ ...before, key, error: errorOf(error) })),
    );
    asking.current = mine;
    mine.again();
    return () => mine.stop();
  }, [key]);
  return {
    data: state.data,
    error: state.error,
    waiting: state.data === undefined && state.error === undefined,
    again: () => asking.current?.again(),
    put: (data) => {
      asking.current?.forget();
      setState({ key, data });
    },
    change: (by) => {
      asking.current?.change(by);
      setState((before) => {
        if (before.data === undefined) return before;
        const data = by(before.data);
        return data === before.data ? before : { ...before, data };
      });
    },
  };
}

export const errorOf = (error: unknown): ApiError => (error instanceof ApiError ? error : new ApiError(0, String(error), "", "Error"));
