import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, isAbort } from "~/api/client";
import type { Searched } from "~/api/about";
import { asked, set } from "~/route/router";
import { count, plural } from "~/text/format";

const QUIET_MS = 250;
const MOST = 1000;

export interface Search {
  text: string;
  say: (text: string) => void;
  hits: readonly number[];
  /** The offset of the line that is shown. */
  hit: number | undefined;
  step: (by: 1 | -1) => void;
  told: string;
}

/** Which of them the address names. */
const shownOf = (hits: readonly number[]): number => hits.indexOf(Number(asked("hit", "-1")));

/** A search over the whole file, by the server; what is looked for, and the line that was come to, are in the address. */
export function useSearch(run: string, attempt: number | undefined, rank: number): Search {
  const text = asked("find");
  const [hits, setHits] = useState<readonly number[]>([]);
  const at = shownOf(hits);
  const [state, setState] = useState<"" | "searching" | "more" | "failed">("");
  const heard = useRef(""); // of which text the hits are
  const due = useRef(""); // the text that is to be gone to when there is an answer
  useEffect(() => {
    setHits([]);
    heard.current = "";
    setState(text ? "searching" : "");
    if (!text) return;
    const stop = new AbortController();
    const timer = setTimeout(() => void all(stop.signal), QUIET_MS);
    const all = async (signal: AbortSignal): Promise<void> => {
      let found: number[] = [];
      let next: number | null = 0;
      try {
        while (next !== null && found.length < MOST) {
          const page: Searched = await get(`/runs/${encodeURIComponent(run)}/output/search`, { text, attempt, rank, after: next, limit: MOST }, signal);
          found = [...found, ...page.hits.map((hit) => hit.start)];
          next = page.next;
          setHits(found);
          heard.current = text;
        }
        setState(next === null ? "" : "more");
        if (due.current === text && found.length > 0) set({ hit: found.at(-1) });
        due.current = "";
      } catch (error) {
        if (!isAbort(error)) setState("failed");
      }
    };
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [run, attempt, rank, text]);
  const step = (by: 1 | -1): void => {
    const wanted = asked("find");
    due.current = heard.current === wanted ? "" : wanted; // Enter is often quicker than the answer
    if (due.current || hits.length === 0) return;
    // The first step goes to the last line that has it: what was printed lately is what people look for.
    const at = shownOf(hits); // not that of the last rendering: the next key may come before it
    set({ hit: hits[at < 0 ? hits.length - 1 : (at + by + hits.length) % hits.length] });
  };
  const told = useMemo(() => {
    if (!text) return "";
    if (state === "failed") return "no answer";
    if (state === "searching" && hits.length === 0) return "searching";
    if (hits.length === 0) return "not there";
    const all = `${count(hits.length)}${state === "" ? "" : "+"}`;
    return at < 0 ? plural(hits.length, "line") : `${count(at + 1)} of ${all}`;
  }, [text, state, hits, at]);
  return { text, say: (value) => set({ find: value, hit: undefined }), hits, hit: at < 0 ? undefined : hits[at], step, told };
}
