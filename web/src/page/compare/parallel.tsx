import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Run } from "~/api/types";
import { shade } from "~/chart/colors";
import { useWidth } from "~/chart/width";
import { apart, type Property } from "~/page/compare/properties";
import { isWide, ofMetric, ofProperty, share, type Quantity } from "~/page/compare/quantities";
import type { Change } from "~/page/compare/setting";
import { go } from "~/route/router";
import { dark } from "~/shell/theme";
import { number } from "~/text/format";

const LEAST = 96; // px between two axes: narrower than that it scrolls
const SIDE = 62; // px beside the first and the last axis, for their names
const HEIGHT = 420;
const END = 0.03; // of an axis
const LETTER = 7.6; // px of a name above an axis
const TOP = 44;
const BOTTOM = 26;
const MOST = 10;

/** Every run as a line through its properties to its result; dragging along an axis picks those that pass there. */
export function Parallel({ runs, properties, metric, picks, onChange, still }: {
  runs: readonly Run[]; properties: readonly Property[]; metric: string; picks: readonly string[]; onChange?: Change;
  /** So wide, and nothing to be done with it: for reports that leave the server. */
  still?: number;
}): JSX.Element {
  const [over, setOver] = useState(-1);
  const picked = pickedOf(picks);
  const [box, width] = useWidth<HTMLDivElement>();
  const isDark = still === undefined && dark.value;
  const config = apart(properties.filter((one) => one.key.startsWith("config.") && !one.seed)).slice(0, MOST - 1).map(ofProperty);
  const result = ofMetric(runs, metric, "best");
  const axes = [...config, result].filter((one) => one.values.some(Number.isFinite));
  if (axes.length < 2 || !metric) return <p class="muted">Parallel coordinates need a property in which the runs differ, and a metric.</p>;
  const shares = axes.map(share);
  const wide = Math.max(still ?? width, 2 * SIDE + LEAST * (axes.length - 1));
  const x = (at: number): number => SIDE + (at * (wide - 2 * SIDE)) / (axes.length - 1);
  const y = (part: number): number => HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM);
  const kept = runs.map((_, run) => [...picked].every(([key, [low, high]]) => {
    const at = axes.findIndex((one) => one.key === key);
    const part = at < 0 ? 0 : shares[at]!(axes[at]!.values[run]!);
    return at < 0 || (part >= low && part <= high);
  }));
  const last = axes.length - 1;
  return (
    <section class="card pad-box">
      <p class="muted small">Each line is a run; its colour is {result.title}. {still === undefined && "Drag along an axis to pick, click an axis to let go. "}{picked.size > 0 && `${kept.filter(Boolean).length} of ${runs.length} picked.`}</p>
      <div class="scroll" ref={box} tabIndex={0} role="region" aria-label="parallel coordinates">
        <svg class="parallel" width={wide} height={HEIGHT} viewBox={`0 0 ${wide} ${HEIGHT}`} role="img" aria-label={`parallel coordinates to ${result.title}`}>
          {runs.map((run, number) => {
            const points = axes.flatMap((one, at) => {
              const part = shares[at]!(one.values[number]!);
              return Number.isFinite(part) ? [`${x(at).toFixed(1)},${y(part).toFixed(1)}`] : [];
            });
            const part = shares[last]!(axes[last]!.values[number]!);
            const faint = !kept[number] || (over >= 0 && over !== number);
            return (
              <polyline
                key={run.id} points={points.join(" ")} fill="none" stroke={Number.isFinite(part) ? shade(part, isDark) : "var(--faint)"}
                stroke-width={over === number ? 3.5 : 1.6} opacity={faint ? 0.12 : 0.85}
                onPointerEnter={() => setOver(number)} onPointerLeave={() => setOver(-1)} onClick={() => go("run", run.id)}
              ><title>{run.name || run.id}</title></polyline>
            );
          })}
          {axes.map((one, at) => (
            <AxisLine key={one.key} quantity={one} x={x(at)} y={y} letters={Math.floor((wide - 2 * SIDE) / (axes.length - 1) / LETTER)} picked={picked.get(one.key)} onPick={(range) => {
              const next = new Map(picked);
              if (range) next.set(one.key, range);
              else next.delete(one.key);
              onChange?.({ pick: [...next].map(([key, ends]) => [key, ...ends.map((end) => String(Number(end.toFixed(3))))].join("~")) });
            }} />
          ))}
        </svg>
      </div>
      {still === undefined && <p class="small parallel-over" role="status">{over >= 0 ? `${runs[over]!.name || runs[over]!.id}: ${axes.map((one) => `${one.title} ${valueText(one, one.values[over]!)}`).join(", ")}` : ""}</p>}
    </section>
  );
}

/** KEY~LOW~HIGH; a key may have a ~ of its own. */
function pickedOf(picks: readonly string[]): ReadonlyMap<string, readonly [number, number]> {
  return new Map(picks.flatMap((text) => {
    const found = /^(.+)~([\d.]+)~([\d.]+)$/.exec(text);
    return found ? [[found[1]!, [Number(found[2]), Number(found[3])] as const] as const] : [];
  }));
}

function AxisLine({ quantity, x, y, letters, picked, onPick }: {
  quantity: Quantity; x: number; y: (part: number) => number; letters: number; picked: readonly [number, number] | undefined; onPick: (range: readonly [number, number] | undefined) => void;
}): JSX.Element {
  const [from, setFrom] = useState<number>();
  const part = (event: PointerEvent): number => {
    const svg = (event.currentTarget as SVGElement).ownerSVGElement!.getBoundingClientRect();
    const at = ((event.clientY - svg.top) / svg.height) * HEIGHT;
    return Math.max(0, Math.min(1, (HEIGHT - BOTTOM - at) / (HEIGHT - TOP - BOTTOM)));
  };
  const known = quantity.values.filter(Number.isFinite);
  const ends = quantity.names ? [] : [Math.min(...known), Math.max(...known)];
  return (
    <g>
      <line x1={x} x2={x} y1={y(0)} y2={y(1)} stroke="var(--line-strong)" stroke-width="1.5" />
      {picked && <rect x={x - 7} width={14} y={y(picked[1])} height={Math.max(3, y(picked[0]) - y(picked[1]))} fill="var(--accent)" opacity="0.35" />}
      <text x={x} y={16} text-anchor="middle" class="axis-title"><title>{quantity.title}</title>{short(quantity.title, letters - (isWide(quantity) ? 6 : 0))}{isWide(quantity) ? " (log)" : ""}</text>
      {quantity.names
        ? quantity.names.map((name, at) => <text key={name} x={x + 6} y={y(quantity.names!.length > 1 ? at / (quantity.names!.length - 1) : 0.5) + 4} class="axis-tick">{short(name, letters - 1)}</text>)
        : ends.map((end, at) => <text key={at} x={x} y={at === 0 ? HEIGHT - 8 : TOP - 8} text-anchor="middle" class="axis-tick">{number(end, 4)}</text>)}
      <rect
        x={x - 14} width={28} y={y(1)} height={y(0) - y(1)} fill="transparent" style={{ cursor: "ns-resize" }}
        onPointerDown={(event) => { event.currentTarget.setPointerCapture(event.pointerId); setFrom(part(event)); }}
        onPointerMove={(event) => from !== undefined && Math.abs(part(event) - from) > 0.02 && onPick(reaching(Math.min(from, part(event)), Math.max(from, part(event))))}
        onPointerUp={(event) => { if (from !== undefined && Math.abs(part(event) - from) <= 0.02) onPick(undefined); setFrom(undefined); }}
      />
    </g>
  );
}

/** Whoever comes close to an end of the axis means it: what lies there would be missed by a hair. */
const reaching = (low: number, high: number): readonly [number, number] => [low < END ? 0 : low, high > 1 - END ? 1 : high];

function short(text: string, letters: number): string {
  const most = Math.max(6, Math.min(24, letters));
  return text.length > most ? `…${text.slice(1 - most)}` : text;
}

const valueText = (quantity: Quantity, value: number): string => (quantity.names ? quantity.names[value] ?? "–" : number(value));
