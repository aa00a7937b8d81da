/**
 * An exponential moving average without the bias of its beginning: the first value counts as one value and not as the
 * history of all before it. The weight is what one point of the whole series keeps of the past; points that were left
 * away by thinning count by their steps, so that the curve is the same however many of them were fetched.
 */
export function ema(values: readonly number[], weight: number, steps?: readonly number[], spacing = 1): number[] {
  if (!(weight > 0)) return values as number[];
  const found = new Array<number>(values.length);
  let sum = 0;
  let mass = 0;
  let before = NaN;
  for (let at = 0; at < values.length; at += 1) {
    const value = values[at]!;
    if (!Number.isFinite(value)) {
      found[at] = value;
      continue;
    }
    const step = steps ? steps[at]! : at * spacing;
    const passed = Number.isNaN(before) ? 1 : Math.max((step - before) / spacing, 1e-9);
    const kept = weight ** passed;
    before = step;
    sum = sum * kept + value * (1 - kept);
    mass = mass * kept + (1 - kept);
    found[at] = mass > 0 ? sum / mass : value;
  }
  return found;
}

/** How far two points of a series are apart before it was thinned. */
export function spacingOf(steps: readonly number[], count: number): number {
  const last = steps.at(-1);
  if (steps.length < 2 || last === undefined || count < 2) return 1;
  return Math.max((last - steps[0]!) / (count - 1), 1e-9);
}

/** Of the slider: as far from 0.9 to 0.99 as from 0 to 0.9, since each of both is ten times as smooth. */
export const NOTCHES = 100;
const TENS = 3; // 0.999 is the most
export const weightOf = (notch: number): number => Number((1 - 10 ** ((-TENS * notch) / NOTCHES)).toFixed(5));
export const notchOf = (weight: number): number => Math.round((NOTCHES / TENS) * -Math.log10(1 - weight)) || 0;
