import type { JSX } from "preact";
import { padded, rangeX, rangeY, type Line, type Range } from "~/chart/line";
import { ticks } from "~/chart/ticks";
import { clock, duration, number } from "~/text/format";

const LEFT = 56;
const RIGHT = 10;
const TOP = 10;
const BOTTOM = 26;

export interface SvgProps {
  lines: readonly Line[];
  /** Of charts beside each other, all lines together: one and the same range for all. */
  among?: readonly Line[] | undefined;
  title: string;
  width?: number;
  height?: number;
  logX?: boolean;
  logY?: boolean;
  seconds?: boolean;
  /** The x axis is the time of day. */
  moments?: boolean;
  /** Of points: air on both sides, and names where whole numbers stand for them. */
  air?: boolean;
  xLabel?: (value: number) => string;
  yLabel?: (value: number) => string;
  zoom?: Range | undefined;
}

/** A chart that needs no script: for reports that leave the server. */
export function SvgChart({ lines, among = lines, title, width = 720, height = 280, logX = false, logY = false, seconds = false, moments = false, air = false, xLabel, yLabel, zoom }: SvgProps): JSX.Element {
  const xs = zoom ?? rangeX(among, logX) ?? [logX ? 1 : 0, 10];
  const shownX: Range = xs[1] > xs[0] ? (air ? padded(xs, logX, 0.06) : xs) : padded(xs, logX, 0.5);
  const ys = padded(rangeY(among, shownX, logY) ?? [logY ? 0.1 : 0, 1], logY);
  const x = scale(shownX, LEFT, width - RIGHT, logX);
  const y = scale(ys, height - BOTTOM, TOP, logY);
  const clip = `clip-${title.replace(/\W+/g, "-")}-${lines.length}`;
  return (
    <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={title} class="svg-chart" xmlns="http://www.w3.org/2000/svg">
      <clipPath id={clip}><rect x={LEFT} y={TOP} width={width - LEFT - RIGHT} height={height - TOP - BOTTOM} /></clipPath>
      {ticks(ys, logY).map((tick) => (
        <g key={`y${tick}`}><line x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} class="svg-grid" /><text x={LEFT - 6} y={y(tick) + 4} text-anchor="end">{yLabel ? yLabel(tick) : number(tick, 4)}</text></g>
      ))}
      {ticks(shownX, logX, Math.max(2, Math.round(width / (moments ? 160 : 90))), seconds || moments).map((tick) => (
        <g key={`x${tick}`}><line y1={TOP} y2={height - BOTTOM} x1={x(tick)} x2={x(tick)} class="svg-grid" /><text x={x(tick)} y={height - 8} text-anchor="middle">{xLabel ? xLabel(tick) : seconds ? duration(tick) : moments ? clock(tick).slice(0, 16) : number(tick, 4)}</text></g>
      ))}
      <g clip-path={`url(#${clip})`}>
        {lines.map((line) => line.band && <path key={`b${line.key}`} d={area(line, x, y)} fill={line.color} opacity="0.18" />)}
        {lines.map((line) => line.raw && <path key={`r${line.key}`} d={path(line, line.raw, x, y)} fill="none" stroke={line.color} stroke-width="0.8" opacity="0.25" />)}
        {lines.map((line) => <path key={line.key} d={path(line, line.y, x, y)} fill="none" stroke={line.color} stroke-width={line.width ?? 1.5} stroke-linejoin="round" stroke-dasharray={line.dash?.length ? line.dash.join(" ") : undefined}><title>{line.label}</title></path>)}
        {lines.flatMap((line) => (line.dots ? line.x.map((at, number) => <circle key={`d${line.key} ${number}`} cx={x(at)} cy={y(line.y[number]!)} r="4" fill={line.color}><title>{line.label}</title></circle>) : []))}
      </g>
    </svg>
  );
}

type Scale = (value: number) => number;

function scale([low, high]: Range, from: number, to: number, log: boolean): Scale {
  const [a, b] = log ? [Math.log10(low), Math.log10(high)] : [low, high];
  return (value) => Number((from + (((log ? Math.log10(value) : value) - a) / (b - a || 1)) * (to - from)).toFixed(1));
}

function path(line: Line, values: readonly number[], x: Scale, y: Scale): string {
  let found = "";
  let down = false;
  values.forEach((value, at) => {
    const [px, py] = [x(line.x[at]!), y(value)];
    if (!Number.isFinite(px) || !Number.isFinite(py)) {
      down = false;
      return;
    }
    found += `${down ? "L" : "M"}${px} ${py}`;
    down = true;
  });
  return found;
}

function area(line: Line, x: Scale, y: Scale): string {
  const { low, high } = line.band!;
  const known = line.x.flatMap((_, at) => (Number.isFinite(y(low[at]!)) && Number.isFinite(y(high[at]!)) ? [at] : []));
  if (known.length < 2) return "";
  const up = known.map((at) => `${x(line.x[at]!)} ${y(high[at]!)}`);
  const back = [...known].reverse().map((at) => `${x(line.x[at]!)} ${y(low[at]!)}`);
  return `M${[...up, ...back].join("L")}Z`;
}
