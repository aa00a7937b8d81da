import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import "~/chart/chart.css";
import { draw, type Bar } from "~/chart/draw";
import { padded, rangeX, rangeY, rounded, type Line, type Range } from "~/chart/line";
import { TIMES } from "~/chart/ticks";
import { Tip, type Pointed } from "~/chart/tip";
import { afterKey, afterWheel } from "~/chart/zooming";
import { pointedAt } from "~/chart/pointing";
import { dark } from "~/shell/theme";
import { duration, number } from "~/text/format";

/** Of what the places on the x axis are: numbers (steps, epochs), seconds, or moments. */
export type XKind = "number" | "seconds" | "moment";

export interface PlotProps {
  lines: readonly Line[];
  /** Of charts beside each other, all lines together: one and the same range for all, or they could not be compared. */
  among?: readonly Line[];
  height: number;
  /** For those who cannot see it. */
  title: string;
  kind?: XKind;
  logX?: boolean;
  logY?: boolean;
  /** The part of the x axis to show; all of it else. The one who gives it is told when it is to be another. */
  zoom?: Range | undefined;
  onZoom?: ((zoom: Range | undefined) => void) | undefined;
  /** Charts of the same name have one cursor. */
  sync?: string;
  bars?: readonly Bar[];
  yFrom?: number;
  /** A line to bring forward, pointed at elsewhere. */
  focus?: string;
  onPick?: (key: string) => void;
  xLabel?: (value: number) => string;
  yLabel?: (value: number) => string;
  /** What the whole numbers of the x axis count. */
  counts?: "step" | "epoch";
  /** Axes on which whole numbers stand for names. */
  names?: "x" | "y" | "xy" | "";
  /** Air on both sides, for points. */
  air?: boolean;
}

const WHEEL = 1.0015;
const WHOLE = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map((n) => n * 10 ** power)).flat(); // between labels
const HALF_LABEL = { number: 16, seconds: 22, moment: 26 }; // px, of which the last one on the axis needs so many

/** A chart: uPlot keeps scales, axes and the cursor; lines, bands and points are drawn by us, each with its own places. */
export function Plot(props: PlotProps): JSX.Element {
  const holder = useRef<HTMLDivElement>(null);
  const made = useRef<uPlot | undefined>(undefined);
  const latest = useRef(props);
  latest.current = props;
  const [tip, setTip] = useState<Pointed>();
  const hovered = useRef("");
  const isDark = dark.value;

  useLayoutEffect(() => {
    const root = holder.current!;
    const plot = new uPlot(options(root, latest, hovered, setTip), data(latest.current), root);
    made.current = plot;
    const resized = new ResizeObserver(() => {
      if (root.clientWidth > 0 && root.clientWidth !== plot.width) plot.setSize({ width: root.clientWidth, height: latest.current.height });
    });
    resized.observe(root);
    const wheel = (event: WheelEvent): void => zoomByWheel(event, plot, latest.current);
    plot.over.addEventListener("wheel", wheel, { passive: false });
    return () => {
      resized.disconnect();
      plot.destroy();
      made.current = undefined;
    };
  }, [isDark, props.logX, props.logY, props.kind, props.sync, props.height]);

  useEffect(() => {
    made.current?.setData(data(props));
  }, [props.lines, props.among, props.zoom?.[0], props.zoom?.[1], props.yFrom]);
  useEffect(() => made.current?.redraw(false), [props.focus, props.bars]);

  return (
    <div
      class="plot"
      style={{ height: `${props.height}px` }}
      role={props.onZoom ? "group" : "img"}
      aria-roledescription={props.onZoom ? "chart: plus and minus zoom, arrows move, 0 shows all" : undefined}
      aria-label={props.title}
      tabIndex={props.onZoom ? 0 : undefined}
      onKeyDown={(event) => zoomByKey(event, latest.current)}
    >
      <div ref={holder} class="plot-holder" />
      {tip && <Tip {...tip} />}
    </div>
  );
}

/** uPlot is given the corners of the picture only. */
function data(props: PlotProps): uPlot.AlignedData {
  const x = shownX(props);
  const y = shownY(props, x);
  return [[...x], [...y]];
}

function shownX({ lines: own, among, bars, zoom, logX, air }: PlotProps): Range {
  const lines = among ?? own;
  if (zoom && zoom[1] > zoom[0]) return logX && zoom[0] <= 0 ? [zoom[1] / 1000, zoom[1]] : zoom;
  const found = rangeX(lines, logX) ?? (bars?.length ? [bars[0]!.x, bars.at(-1)!.x] : undefined);
  if (!found) return logX ? [1, 10] : [0, 1];
  return found[1] > found[0] ? (air ? padded(found, logX, 0.06) : found) : padded(found, logX, 0.5);
}

function shownY(props: PlotProps, x: Range): Range {
  const found = rangeY(props.among ?? props.lines, x, props.logY);
  if (!found) return props.logY ? [0.1, 1] : [0, 1];
  if (props.logY) return rounded(padded(found, true));
  const [low, high] = padded(found);
  return props.yFrom !== undefined ? [props.yFrom, Math.max(high, props.yFrom + 1e-9)] : [low, high];
}

function options(
  root: HTMLElement,
  latest: { current: PlotProps },
  hovered: { current: string },
  setTip: (tip: Pointed | undefined) => void,
): uPlot.Options {
  const { kind = "number", logX, logY, sync, height } = latest.current;
  const style = getComputedStyle(root);
  const [faint, line] = ["--muted", "--line"].map((name) => style.getPropertyValue(name).trim()) as [string, string];
  const font = `11px ${style.getPropertyValue("--font")}`;
  const axis = { stroke: faint, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1, size: 4 }, gap: 4 };
  let frame = 0;
  return {
    width: root.clientWidth || 300,
    height,
    legend: { show: false },
    padding: [8, HALF_LABEL[kind], 0, 0],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false, dist: 5 },
      ...(sync ? { sync: { key: sync, scales: ["x", null], filters: { sub: (type: string) => type === "mousemove" || type === "mouseleave", pub: () => true } } } : {}),
      bind: { dblclick: () => () => { latest.current.onZoom?.(undefined); return null; } },
    },
    scales: {
      x: { time: kind === "moment", distr: logX ? 3 : 1, range: (_, low, high) => [low, high] },
      y: { distr: logY ? 3 : 1, range: (_, low, high) => [low, high] },
    },
    series: [{}, { paths: () => null, points: { show: false } }],
    axes: [
      { ...axis, size: 26, space: 60, ...between(latest.current, kind), ...(kind === "moment" ? {} : { values: (_: uPlot, all: (number | null)[]) => said(all, latest.current.xLabel ?? ((at) => xText(at, kind))) }) },
      { ...axis, size: (_: uPlot, values: string[] | null) => yWidth(values), space: 34, ...(latest.current.names?.includes("y") ? { incrs: WHOLE } : {}), values: (_: uPlot, all: (number | null)[]) => said(all, latest.current.yLabel ?? short) },
    ],
    hooks: {
      draw: [(plot) => draw(plot, latest.current.lines, latest.current.bars ?? [], latest.current.focus || hovered.current)],
      setSelect: [(plot) => {
        const { left, width } = plot.select;
        if (width < 4) return;
        const range: Range = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        latest.current.onZoom?.(range);
      }],
      setCursor: [(plot) => {
        cancelAnimationFrame(frame);
        frame = requestAnimationFrame(() => point(plot, latest.current, hovered, setTip));
      }],
      ready: [(plot) => plot.over.addEventListener("click", () => hovered.current && latest.current.onPick?.(hovered.current))],
    },
  };
}

function point(plot: uPlot, props: PlotProps, hovered: { current: string }, setTip: (tip: Pointed | undefined) => void): void {
  const { left = -1, top = -1 } = plot.cursor;
  const own = plot.cursor.event?.target === plot.over || plot.over.matches(":hover");
  const found = left < 0 || !own ? undefined : pointedAt(plot, props.lines, left, top);
  const before = hovered.current;
  hovered.current = found && found.near ? found.rows[0]?.key ?? "" : "";
  if (before !== hovered.current) plot.redraw(false);
  setTip(found && { ...found, x: props.xLabel ? props.xLabel(found.at) : `${props.counts ? `${props.counts} ` : ""}${xText(found.at, props.kind ?? "number", true)}`, left: left + plot.over.offsetLeft, width: plot.width });
}

function zoomByWheel(event: WheelEvent, plot: uPlot, props: PlotProps): void {
  if (!props.onZoom || !(event.ctrlKey || event.metaKey || event.shiftKey)) return;
  event.preventDefault();
  props.onZoom(afterWheel(WHEEL ** (event.deltaY || event.deltaX), event.offsetX / plot.over.clientWidth, shownX(props), props.logX ?? false));
}

/** From what is asked for, not from what is drawn: the next key may come before the next picture. */
function zoomByKey(event: KeyboardEvent, props: PlotProps): void {
  if (!props.onZoom || event.ctrlKey || event.metaKey || event.altKey) return;
  const next = afterKey(event.key, shownX(props), props.logX ?? false);
  if (next === null) return;
  event.preventDefault();
  event.stopPropagation();
  props.onZoom(next);
}

function xText(value: number, kind: XKind, whole = false): string {
  if (kind === "seconds") return duration(value);
  if (kind === "moment") return new Date(value * 1000).toLocaleString();
  if (whole) return Number.isInteger(value) ? value.toLocaleString("en") : number(value);
  return short(value);
}

/** On a logarithmic axis some lines of the grid have no label: uPlot then gives nothing. */
function said(all: readonly (number | null)[], text: (value: number) => string): string[] {
  return all.map((value) => (value === null ? "" : text(value)));
}

/** 12,000 is 12k on an axis. */
function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e12 || (size < 1e-3 && size > 0)) return value.toExponential().replace("e+", "e");
  for (const [least, unit] of [[1e9, "G"], [1e6, "M"], [1e4, "k"]] as const) {
    if (size >= least) return `${Number((value / (unit === "k" ? 1e3 : least)).toPrecision(6))}${unit}`;
  }
  return String(Number(value.toPrecision(6)));
}

/** What uPlot may put between two labels of the x axis, where not every round number will do. */
function between({ names, counts, logX }: PlotProps, kind: XKind): { incrs?: number[] } {
  if (names?.includes("x") || (counts && !logX)) return { incrs: WHOLE };
  return kind === "seconds" && !logX ? { incrs: [...TIMES] } : {};
}

/** As wide as its longest label, in steps, so that it does not jump with every digit. */
function yWidth(values: string[] | null): number {
  const longest = Math.max(3, ...(values ?? []).map((text) => text.length));
  return 16 + 12 * Math.ceil((longest * 6.4) / 12);
}
