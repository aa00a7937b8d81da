import { useEffect, useRef } from "preact/hooks";
import { useLive, type Topics } from "~/live/live";

/** Ask again when something of these kinds happens: at once, but not more often than every `every` milliseconds; and
 * every `idle` milliseconds when nothing does, for what shows only by its silence (undefined: never). */
export function useAgain(kinds: Topics["kinds"], again: () => void, every = 1000, idle?: number): void {
  const last = useRef(0);
  const timer = useRef(0);
  const latest = useRef(again);
  latest.current = again;
  const soon = (): void => {
    if (timer.current) return;
    const wait = Math.max(0, last.current + every - performance.now());
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      last.current = performance.now();
      latest.current();
    }, wait);
  };
  useLive(kinds ? { kinds } : {}, (kind) => {
    if (kind === "hello" || kind === "resync" || (kinds as readonly string[] | undefined)?.includes(kind)) soon();
  });
  useEffect(() => {
    if (!idle) return;
    const beat = setInterval(() => !document.hidden && performance.now() - last.current >= idle && soon(), idle);
    return () => clearInterval(beat);
  }, [idle]);
  useEffect(() => () => clearTimeout(timer.current), []);
}
