import type uPlot from "uplot";
import { rows } from "~/chart/labels";
import type { Line } from "~/chart/line";

/** From values to pixels of the canvas: a * value + b, of the value or of its logarithm. */
interface Way {
  a: number;
  b: number;
  log: boolean;
}

const LABEL_ROWS = 6; // of the labels of bars that stand close together

export interface Bar {
  x: number;
  label?: string;
  color?: string;
}

function way(plot: uPlot, key: "x" | "y"): Way {
  const scale = plot.scales[key]!;
  const log = scale.distr === 3;
  const at = (value: number): number => (log ? Math.log10(value) : value);
  const [low, high] = [at(scale.min!), at(scale.max!)];
  const box = plot.bbox;
  const [from, to] = key === "x" ? [box.left, box.left + box.width] : [box.top + box.height, box.top];
  const a = (to - from) / (high - low || 1);
  return { a, b: from - a * low, log };
}

const pixel = (on: Way, value: number): number => on.a * (on.log ? Math.log10(value) : value) + on.b;

/** Everything between the axes. `focus` is the line that is pointed at; the others step back. */
export function draw(plot: uPlot, lines: readonly Line[], bars: readonly Bar[], focus: string): void {
  const { ctx, bbox } = plot;
  if (plot.scales["x"]!.min == null || plot.scales["y"]!.min == null) return;
  const ratio = devicePixelRatio || 1;
  const [x, y] = [way(plot, "x"), way(plot, "y")];
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  ctx.lineJoin = "round";
  const ordered = focus ? [...lines].sort((one, other) => Number(one.key === focus) - Number(other.key === focus)) : lines;
  for (const line of ordered) {
    const back = focus !== "" && line.key !== focus;
    const [from, to] = window(line, plot.scales["x"]!.min!, plot.scales["x"]!.max!);
    if (line.band) drawBand(ctx, line, x, y, from, to, back);
    if (line.area) continue;
    if (line.dots) continue;
    const width = (line.width ?? 1.5) * ratio * (line.key === focus ? 1.6 : 1);
    if (line.raw) stroke(ctx, line, line.raw, x, y, from, to, ratio, back ? 0.06 : 0.22);
    stroke(ctx, line, line.y, x, y, from, to, width, back ? 0.25 : 1);
    drawGaps(ctx, line, x, bbox, from, to, ratio);
  }
  drawBars(ctx, bars, bars.map((bar) => pixel(x, bar.x)), bbox, ratio);
  ctx.restore();
  ctx.save(); // uPlot remembers what colours it has set
  for (const line of ordered) {
    if (line.dots) drawDots(ctx, line, x, y, bbox, ratio, focus !== "" && line.key !== focus);
  }
  ctx.restore();
}

/** The places to draw: what is seen, and one point beyond each side. */
function window(line: Line, low: number, high: number): [number, number] {
  const x = line.x;
  let from = 0;
  let to = x.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (x[middle]! < low) from = middle + 1;
    else to = middle;
  }
  let end = x.length;
  let start = from;
  while (start < end) {
    const middle = (start + end) >> 1;
    if (x[middle]! <= high) start = middle + 1;
    else end = middle;
  }
  return [Math.max(0, from - 1), Math.min(x.length, end + 1)];
}

function stroke(ctx: CanvasRenderingContext2D, line: Line, values: readonly number[], x: Way, y: Way, from: number, to: number, width: number, alpha: number): void {
  ctx.globalAlpha = alpha;
  ctx.strokeStyle = line.color;
  ctx.lineWidth = width;
  ctx.setLineDash((line.dash ?? []).map((part) => part * (devicePixelRatio || 1)));
  ctx.beginPath();
  const lonely: number[] = []; // places of points without a neighbour to draw a line to
  let down = false;
  let alone = false;
  for (let at = from; at < to; at += 1) {
    const value = values[at]!;
    if (value !== value || Math.abs(value) === Infinity || (y.log && value <= 0) || (x.log && line.x[at]! <= 0)) {
      if (alone) lonely.push(at - 1);
      down = alone = false;
      continue;
    }
    const px = x.a * (x.log ? Math.log10(line.x[at]!) : line.x[at]!) + x.b;
    const py = y.a * (y.log ? Math.log10(value) : value) + y.b;
    if (down) ctx.lineTo(px, py);
    else ctx.moveTo(px, py);
    alone = !down;
    down = true;
  }
  if (alone) lonely.push(to - 1);
  ctx.stroke();
  ctx.setLineDash([]);
  ctx.fillStyle = line.color;
  for (const at of lonely) {
    ctx.beginPath();
    ctx.arc(pixel(x, line.x[at]!), pixel(y, values[at]!), 1.8 * width, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

function drawBand(ctx: CanvasRenderingContext2D, line: Line, x: Way, y: Way, from: number, to: number, back: boolean): void {
  const { low, high } = line.band!;
  const floor = ctx.canvas.height * 4; // where a logarithm has no more numbers
  const py = (value: number): number => (y.log && value <= 0 ? floor : pixel(y, value));
  ctx.globalAlpha = line.area ? (back ? 0.25 : 0.75) : back ? 0.05 : 0.18;
  ctx.fillStyle = line.color;
  let at = from;
  while (at < to) {
    while (at < to && !(Number.isFinite(low[at]!) && Number.isFinite(high[at]!))) at += 1;
    const begin = at;
    while (at < to && Number.isFinite(low[at]!) && Number.isFinite(high[at]!)) at += 1;
    if (at - begin < 2) continue;
    ctx.beginPath();
    for (let up = begin; up < at; up += 1) ctx.lineTo(pixel(x, line.x[up]!), py(high[up]!));
    for (let down = at - 1; down >= begin; down -= 1) ctx.lineTo(pixel(x, line.x[down]!), py(low[down]!));
    ctx.closePath();
    ctx.fill();
  }
  ctx.globalAlpha = 1;
}

/** Not cut at the edges: the first and the last point of a curve lie there. */
function drawDots(ctx: CanvasRenderingContext2D, line: Line, x: Way, y: Way, box: uPlot.BBox, ratio: number, back: boolean): void {
  ctx.globalAlpha = back ? 0.25 : 1;
  ctx.fillStyle = ctx.strokeStyle = line.color;
  ctx.lineWidth = 1.5 * ratio;
  for (let at = 0; at < line.x.length; at += 1) {
    const value = line.y[at]!;
    if (!Number.isFinite(value) || (y.log && value <= 0)) continue;
    const [px, py] = [pixel(x, line.x[at]!), pixel(y, value)];
    if (!(px >= box.left - 1 && px <= box.left + box.width + 1 && py >= box.top - 1 && py <= box.top + box.height + 1)) continue;
    const look = line.dots![at]?.look ?? "full";
    const size = (look === "best" ? 5.5 : 3.5) * ratio;
    ctx.beginPath();
    if (look === "cross") {
      ctx.moveTo(px - size, py - size);
      ctx.lineTo(px + size, py + size);
      ctx.moveTo(px + size, py - size);
      ctx.lineTo(px - size, py + size);
      ctx.stroke();
    } else {
      ctx.arc(px, py, size, 0, 2 * Math.PI);
      if (look === "hollow") ctx.stroke();
      else ctx.fill();
    }
  }
  ctx.globalAlpha = 1;
}

/** A small wedge at the bottom where a value was not a number: a training that broke must be seen. */
function drawGaps(ctx: CanvasRenderingContext2D, line: Line, x: Way, box: uPlot.BBox, from: number, to: number, ratio: number): void {
  const values = line.raw ?? line.y;
  ctx.fillStyle = line.color;
  const floor = box.top + box.height;
  let before = -Infinity;
  for (let at = from; at < to; at += 1) {
    if (values[at] === values[at]) continue;
    const px = pixel(x, line.x[at]!);
    if (px - before < 4 * ratio) continue;
    before = px;
    ctx.beginPath();
    ctx.moveTo(px, floor - 7 * ratio);
    ctx.lineTo(px + 4 * ratio, floor);
    ctx.lineTo(px - 4 * ratio, floor);
    ctx.fill();
  }
}

function drawBars(ctx: CanvasRenderingContext2D, bars: readonly Bar[], places: readonly number[], box: uPlot.BBox, ratio: number): void {
  ctx.font = `${10 * ratio}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  const spans = bars.map((bar, at): [number, number] => {
    const width = ctx.measureText(bar.label ?? "").width;
    const left = places[at]! + (places[at]! > box.left + box.width * 0.8 ? -3 * ratio - width : 3 * ratio);
    return [left, bar.label ? left + width + 4 * ratio : left];
  });
  const written = rows(spans, LABEL_ROWS);
  bars.forEach((bar, at) => {
    ctx.strokeStyle = ctx.fillStyle = bar.color ?? "#888";
    ctx.lineWidth = ratio;
    ctx.globalAlpha = 0.7;
    ctx.beginPath();
    ctx.moveTo(places[at]!, box.top);
    ctx.lineTo(places[at]!, box.top + box.height);
    ctx.stroke();
    if (bar.label && written[at]! >= 0) ctx.fillText(bar.label, spans[at]![0], box.top + (10 + 12 * written[at]!) * ratio);
    ctx.globalAlpha = 1;
  });
}
