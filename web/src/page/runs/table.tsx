import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { annotate } from "~/api/board";
import { ApiError } from "~/api/client";
import { reveal, seen, type Seen } from "~/part/windowing";
import { go } from "~/route/router";
import { useKeys } from "~/shell/keys";
import { say } from "~/shell/toast";
import { Cell, isRight } from "~/page/runs/cells";
import { column as columnOf, pointsOf, SPARK, wanted, type Column } from "~/page/runs/columns";
import { useRows, type Row, type Rows } from "~/page/runs/rows";
import { add, selected, toggle } from "~/page/runs/selection";
import { useSparks } from "~/page/runs/spark";

const CHECK = 34;
const STAR = 30;
const NARROW = 136; // of the name, on a telephone

/** The list: a hundred thousand rows, of which those on the screen exist. */
export function RunTable({ q, sort, columns, onSort, onRows }: {
  q: string; sort: string; columns: readonly string[]; onSort: (key: string) => void; onRows: (rows: Rows) => void;
}): JSX.Element {
  const shown = ["name", ...columns].map(columnOf);
  const scroller = useRef<HTMLDivElement>(null);
  const [part, setPart] = useState<Seen>({ first: 0, end: 40 });
  const [cursor, setCursor] = useState(-1);
  const [narrow, setNarrow] = useState(isNarrow);
  const anchor = useRef(-1);
  const rowHeight = useRowHeight();
  const rows = useRows(q, sort, wanted(shown), part);
  const total = rows.total ?? 0;
  const now = useNow();
  useEffect(() => onRows(rows), [rows.total, rows.error, rows.version]);

  const look = (): void => {
    const box = scroller.current;
    if (box) setPart((old) => same(old, seen(box.scrollTop, box.clientHeight - rowHeight, rowHeight, rows.total ?? 40)));
  };
  useLayoutEffect(look, [rows.total, rowHeight]);
  useEffect(() => {
    const box = scroller.current!;
    const watch = new ResizeObserver(() => {
      setNarrow(isNarrow());
      look();
    });
    watch.observe(box);
    return () => watch.disconnect();
  }, [rows.total, rowHeight]);
  useLayoutEffect(() => {
    if (scroller.current) scroller.current.scrollTop = 0;
    setCursor(-1);
  }, [q, sort]);

  const visible: [number, Row | undefined][] = [];
  for (let at = part.first; at < Math.min(part.end, rows.total ?? (rows.error ? 0 : 14)); at += 1) visible.push([at, rows.row(at)]);
  const metric = shown.find((one) => one.kind === "spark")?.key.slice(SPARK.length) ?? "";
  const drawn = visible.flatMap(([, row]) => (row?.get(pointsOf(metric)) ? [{ id: row.id, live: row.get("state") === "running" }] : []));
  const sparks = useSparks(metric, drawn, rows.version);

  const move = (by: number): void => {
    const next = Math.max(0, Math.min(total - 1, cursor + by));
    setCursor(next);
    const box = scroller.current!;
    const top = reveal(next, box.scrollTop, box.clientHeight - rowHeight, rowHeight);
    if (top !== undefined) box.scrollTop = top;
  };
  const pick = async (index: number, range: boolean): Promise<void> => {
    const row = rows.row(index);
    if (range && anchor.current >= 0) {
      const [from, to] = [Math.min(anchor.current, index), Math.max(anchor.current, index) + 1];
      add(await rows.ids(from, to));
    } else if (row) toggle(row.id);
    anchor.current = index;
  };
  const star = async (row: Row): Promise<void> => {
    try {
      await annotate(row.id, { star: !row.get("star") });
      rows.again();
    } catch (error) {
      if (error instanceof ApiError && error.status !== 401) say(error.message, true);
    }
  };
  const here = (run: (row: Row) => void) => () => {
    const row = rows.row(cursor);
    if (row) run(row);
  };
  useKeys("The list", [
    { keys: "j", about: "down", run: () => move(1) },
    { keys: "k", about: "up", run: () => move(-1) },
    { keys: "x", about: "select; with shift all up to here", run: () => void pick(cursor, false) },
    { keys: "X", about: "select all between", run: () => void pick(cursor, true) },
    { keys: "s", about: "star", run: here((row) => void star(row)) },
    { keys: "o", about: "open", run: here((row) => go("run", row.id)) },
  ]);

  const numeric = new Set(shown.filter((one) => visible.some(([, row]) => row && isRight(one, row.get(one.key)))).map((one) => one.key));
  const template = [CHECK, STAR, ...shown.map((one) => (narrow && one.kind === "name" ? NARROW : one.width))];
  const width = template.reduce((sum, one) => sum + one, 0);
  const grid = { gridTemplateColumns: template.map((one, at) => (at === template.length - 1 ? `minmax(${one}px, 1fr)` : `${one}px`)).join(" "), minWidth: `${width}px` };
  const chosen = new Set(selected.value);
  return (
    <div class="runs-table" ref={scroller} onScroll={look} role="table" aria-label="Runs" aria-rowcount={total + 1} tabIndex={0}>
      <div class="runs-head" style={grid} role="row" aria-rowindex={1}>
        <span role="columnheader" class="pin pin-0"><span class="sr">selected</span></span>
        <span role="columnheader" class="pin pin-1"><span class="sr">starred</span></span>
        {shown.map((one) => <Head key={one.key} column={one} right={numeric.has(one.key)} sort={sort} onSort={onSort} />)}
      </div>
      <div class="runs-body" style={{ height: `${(rows.total ?? 14) * rowHeight}px`, minWidth: `${width}px` }} role="rowgroup">
        {visible.map(([at, row]) => (
          <div
            key={at}
            role="row"
            aria-rowindex={at + 2}
            class={`run-row${row && chosen.has(row.id) ? " chosen" : ""}${at === cursor ? " cursor" : ""}`}
            style={{ ...grid, transform: `translateY(${at * rowHeight}px)`, height: `${rowHeight}px` }}
          >
            {row ? (
              <>
                <span role="cell" class="pin pin-0">
                  <input type="checkbox" aria-label={`select ${String(row.get("name") || row.id)}`} checked={chosen.has(row.id)} onClick={(event) => { event.preventDefault(); setCursor(at); void pick(at, event.shiftKey); }} />
                </span>
                <span role="cell" class="pin pin-1">
                  <button type="button" class={`star${row.get("star") ? " on" : ""}`} aria-label={row.get("star") ? "unstar" : "star"} aria-pressed={Boolean(row.get("star"))} onClick={() => void star(row)}>{row.get("star") ? "★" : "☆"}</button>
                </span>
                {shown.map((one) => (
                  <span role="cell" key={one.key} class={`${one.kind === "name" ? "pin pin-2" : ""}${isRight(one, row.get(one.key)) || (numeric.has(one.key) && isMissing(row.get(one.key))) ? " number" : ""}`}>
                    <Cell column={one} row={row} now={now} spark={one.kind === "spark" ? sparks.get(row.id) : undefined} />
                    {one.kind === "name" && row.get("bug") ? <span class="bug" title="marked as broken">bug</span> : null}
                    {one.kind === "name" && row.get("notes") ? <span class="note-mark" title={String(row.get("notes"))}>✎</span> : null}
                  </span>
                ))}
              </>
            ) : (
              <span role="cell" class="pin pin-2 wait-cell"><span class="waiting" /></span>
            )}
          </div>
        ))}
      </div>
    </div>
  );
}

function Head({ column, right, sort, onSort }: { column: Column; right: boolean; sort: string; onSort: (key: string) => void }): JSX.Element {
  const state = sort === column.key ? "ascending" : sort === `-${column.key}` ? "descending" : "none";
  return (
    <span role="columnheader" aria-sort={state} class={`${column.kind === "name" ? "pin pin-2" : ""}${right ? " number" : ""}`}>
      {column.kind === "spark" ? (
        <span class="cut" title={column.title}>{column.title}</span>
      ) : (
        <button type="button" class="cut" title={`sort by ${column.title}`} onClick={() => onSort(column.key)}>
          {column.title}{state === "ascending" ? " ↑" : state === "descending" ? " ↓" : ""}
        </button>
      )}
    </span>
  );
}

const isNarrow = (): boolean => matchMedia("(max-width: 720px)").matches;
const isMissing = (value: unknown): boolean => value === null || value === undefined;

const same = (old: Seen, next: Seen): Seen => (old.first === next.first && old.end === next.end ? old : next);

function useRowHeight(): number {
  const [height] = useState(() => parseInt(getComputedStyle(document.documentElement).getPropertyValue("--row"), 10) || 30);
  return height;
}

function useNow(): number {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now() / 1000), 5000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
