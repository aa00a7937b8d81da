import { useEffect, useState } from "preact/hooks";
import { ApiError, isAbort } from "~/api/client";

export interface Fetched<T> {
  /** The last answer, kept while the next is on its way: nothing jumps. */
  data: T | undefined;
  error: ApiError | undefined;
  /** There was no answer yet. */
  waiting: boolean;
  again: () => void;
}

/** Ask when `key` changes and when told to; what was asked before is given up. */
export function useFetched<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): Fetched<T> {
  const [state, setState] = useState<{ key?: string; data?: T; error?: ApiError }>({});
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    ask(stop.signal).then(
      (data) => !stop.signal.aborted && setState({ key, data }),
      (error: unknown) => {
        if (isAbort(error) || stop.signal.aborted) return;
        const said = error instanceof ApiError ? error : new ApiError(0, String(error), "", "Error");
        setState((before) => ({ ...before, key, error: said }));
      },
    );
    return () => stop.abort();
  }, [key, turn]);
  return {
    data: state.data,
    error: state.error,
    waiting: state.data === undefined && state.error === undefined,
    again: () => setTurn((n) => n + 1),
  };
}
