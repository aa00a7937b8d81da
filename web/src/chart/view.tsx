/** How charts are looked at: smoothing, axes and zoom, the same for all charts of a page, and in its address. */
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { AXES, isAxis, kindOf, type Axis } from "~/chart/axis";
import type { Range } from "~/chart/line";
import { NOTCHES, notchOf, weightOf } from "~/chart/smooth";
import { Choice } from "~/part/parts";
import { here, set } from "~/route/router";

export interface View {
  smooth: number;
  logX: boolean;
  logY: boolean;
  axis: Axis;
  /** In units of the axis. */
  zoom: Range | undefined;
}

export function viewOf(query: URLSearchParams): View {
  const [log, axis] = [query.get("log") ?? "", query.get("x") ?? "step"];
  const ends = (query.get("zoom") ?? "").split("~").map(Number);
  return {
    smooth: Math.min(0.999, Math.max(0, Number(query.get("smooth")) || 0)),
    logX: log.includes("x"),
    logY: log.includes("y"),
    axis: isAxis(axis) ? axis : "step",
    zoom: ends.length === 2 && ends.every(Number.isFinite) && ends[0]! < ends[1]! ? ([ends[0]!, ends[1]!] as const) : undefined,
  };
}

/** As the address of the page says. */
export function useView(): View {
  const query = here.value.query;
  const words = ["smooth", "log", "x", "zoom"].map((name) => query.get(name));
  return useMemo(() => viewOf(query), words);
}

export const zoomText = (zoom: Range | undefined): string | undefined => zoom?.map((end) => String(Number(end.toPrecision(10)))).join("~");

export function setZoom(zoom: Range | undefined): void {
  set({ zoom: zoomText(zoom) });
}

/** `axes`: those that can be chosen. */
export function Controls({ view, epoch = true, axes = true }: { view: View; epoch?: boolean; axes?: boolean }): JSX.Element {
  const log = (letter: "x" | "y", on: boolean): void => {
    const letters = new Set([...(view.logX ? "x" : ""), ...(view.logY ? "y" : "")]);
    if (on) letters.add(letter);
    else letters.delete(letter);
    set({ log: [...letters].sort().join("") });
  };
  const said = view.smooth === 0 ? "off" : view.smooth.toFixed(view.smooth > 0.99 ? 3 : 2);
  const known = epoch ? AXES : AXES.filter(([axis]) => axis !== "epoch");
  return (
    <div class="controls">
      <label>
        Smooth
        <input type="range" min="0" max={NOTCHES} step="1" value={notchOf(view.smooth)} aria-valuetext={said} onInput={(event) => set({ smooth: weightOf(Number(event.currentTarget.value)) || undefined })} />
        <output>{said}</output>
      </label>
      {axes && <Choice label="x axis" value={view.axis} options={known} onChoose={(axis) => set({ x: axis === "step" ? undefined : axis, zoom: undefined })} />}
      <span class="choice" role="group" aria-label="logarithmic axes">
        <button type="button" aria-pressed={view.logX} onClick={() => log("x", !view.logX)}>log x</button>
        <button type="button" aria-pressed={view.logY} onClick={() => log("y", !view.logY)}>log y</button>
      </span>
      <button type="button" class="button" disabled={!view.zoom} onClick={() => setZoom(undefined)} title="Drag in a chart to zoom, double-click to see all">Reset zoom</button>
    </div>
  );
}

export { kindOf };
