/** Curves of equal runs as one with its spread, over any axis: the server does it over steps, of which it has all. Pure. */

export interface Curve {
  x: readonly number[];
  y: readonly number[];
}

export interface Folded {
  x: number[];
  mean: number[];
  /** Of a sample; 0 where only one has a value. */
  std: number[];
}

/** At the places that any of them has; when they are too many, at even ones. Between its points a curve goes straight;
 * before its first and behind its last it has no value. */
export function fold(curves: readonly Curve[], points: number): Folded {
  const found: Folded = { x: [], mean: [], std: [] };
  const places = grid(curves, points);
  const columns = curves.map((curve) => along(curve, places));
  places.forEach((x, at) => {
    const values = columns.map((column) => column[at]!).filter(Number.isFinite);
    if (values.length === 0) return;
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const spread = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
    found.x.push(x);
    found.mean.push(mean);
    found.std.push(values.length > 1 ? Math.sqrt(spread / (values.length - 1)) : 0);
  });
  return found;
}

function grid(curves: readonly Curve[], points: number): number[] {
  const all = [...new Set(curves.flatMap((curve) => curve.x))].filter(Number.isFinite).sort((one, other) => one - other);
  if (all.length <= points) return all;
  const [low, high] = [all[0]!, all.at(-1)!];
  return Array.from({ length: points }, (_, at) => low + ((high - low) * at) / (points - 1));
}

/** The curve's values at ascending places; NaN where it has none. */
function along({ x, y }: Curve, places: readonly number[]): number[] {
  let right = 0;
  return places.map((place) => {
    while (right < x.length && x[right]! < place) right += 1;
    if (right < x.length && x[right] === place) return y[right]!;
    if (right === 0 || right >= x.length) return NaN;
    const [x0, x1, y0, y1] = [x[right - 1]!, x[right]!, y[right - 1]!, y[right]!];
    return y0 + ((y1 - y0) * (place - x0)) / (x1 - x0);
  });
}
