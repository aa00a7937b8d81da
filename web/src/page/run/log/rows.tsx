import type { JSX, RefObject } from "preact";
import { useEffect, useLayoutEffect, useState } from "preact/hooks";
import "~/style/ansi.css";
import { Waiting } from "~/part/parts";
import { marked, pens, rowAt, type Held } from "~/page/run/log/pages";
import { dark } from "~/shell/theme";
import { parse, type Pen } from "~/text/ansi";
import { readable } from "~/text/contrast";

/** The height of a line in pixels; with wrapping on all that is held is drawn, and the browser says how high it is. */
export const ROW = 18;
const BEYOND = 30;
const WRAPPED = 1500;

export interface Look {
  wrap: boolean;
  search: string;
  /** The offset of the line that was searched for; -1 for none. */
  hit: number;
}

/** Lines of output. Those that are not seen are not there. */
export function Rows({ box, held, look, waiting, onScroll, label }: {
  box: RefObject<HTMLDivElement | null>; held: Held; look: Look; waiting: boolean; onScroll: () => void; label: string;
}): JSX.Element {
  const [view, setView] = useState({ top: 0, height: 600 });
  const measure = (): void => {
    const element = box.current;
    if (element) setView({ top: element.scrollTop, height: element.clientHeight });
  };
  useLayoutEffect(measure, [held, look.wrap]);
  useEffect(() => {
    const element = box.current!;
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  useEffect(() => {
    const element = box.current!;
    const show = (event: Event): void => {
      const offset = (event as CustomEvent<number>).detail;
      const row = element.querySelector(`[data-at="${offset}"]`);
      if (row) row.scrollIntoView({ block: "center" });
      else element.scrollTop = Math.max(0, rowAt(held, offset) * ROW - element.clientHeight / 2);
    };
    element.addEventListener("show-row", show);
    return () => element.removeEventListener("show-row", show);
  }, [held]);
  const all = held.lines.length;
  // Wrapped lines have heights that only the browser knows: a part of them is drawn, around what was searched for.
  const last = look.hit >= held.start && look.hit < held.end ? Math.min(all, rowAt(held, look.hit) + WRAPPED / 2) : all;
  const from = look.wrap ? Math.max(0, last - WRAPPED) : Math.max(0, Math.floor(view.top / ROW) - BEYOND);
  const to = look.wrap ? last : Math.min(all, Math.ceil((view.top + view.height) / ROW) + BEYOND);
  const colours = pens(held.lines, from, to);
  return (
    <div class={`log-box${look.wrap ? " wrap" : ""}`} ref={box} tabIndex={0} role="log" aria-label={label} aria-live="off"
      onScroll={() => { measure(); onScroll(); }}>
      {waiting && <Waiting height={200} />}
      {look.wrap && from > 0 && <p class="muted log-row">Earlier lines are there without wrapping.</p>}
      <div class="log-inner" style={look.wrap ? {} : { height: `${all * ROW}px` }}>
        <div style={look.wrap ? {} : { transform: `translateY(${from * ROW}px)` }}>
          {held.lines.slice(from, to).map((row, index) => (
            <Line key={row.at} at={row.at} text={row.text} pen={colours[index]!} search={look.search} hit={row.at === look.hit} />
          ))}
        </div>
      </div>
    </div>
  );
}

function Line({ at, text, pen, search, hit }: { at: number; text: string; pen: Pen; search: string; hit: boolean }): JSX.Element {
  const surface = dark.value ? "#161c1a" : "#ffffff";
  return (
    <div class={`log-row ansi${hit ? " hit" : ""}`} data-at={at}>
      {parse(text, pen).pieces.map((piece) => (
        <span class={piece.kind || undefined} style={piece.color || piece.background ? { color: piece.color && readable(piece.color, piece.background ?? surface), background: piece.background } : undefined}>
          {marked(piece.text, search).map((part) => (part.hit ? <mark>{part.text}</mark> : part.text))}
        </span>
      ))}
    </div>
  );
}
