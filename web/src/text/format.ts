/** Values as people read them. Pure. */
import type { Num } from "~/api/types";

export const MISSING = "–";

/** A number as a table shows it: five digits, no noise. */
export function number(value: unknown, digits = 5): string {
  if (value === null || value === undefined) return MISSING;
  if (typeof value === "string") return value === "inf" ? "∞" : value === "-inf" ? "−∞" : value;
  if (typeof value !== "number") return String(value);
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  // Whole numbers are seeds, sizes and counts: every digit of them matters.
  if (Number.isInteger(value) && size < 1e15) return String(value);
  if (size >= 1e9 || size < 1e-4) return tidy(value.toExponential(digits - 1));
  if (size >= 10 ** (digits - 1)) return String(Math.round(value));
  return tidy(value.toPrecision(digits));
}

/** The last value of a metric, which there is: what the API has no number for was NaN. */
export const last = (stat: { last: Num; count: number }): string => (stat.last === null && stat.count > 0 ? "NaN" : number(stat.last));

function tidy(text: string): string {
  const [base = "", power] = text.split("e");
  const short = base.includes(".") ? base.replace(/0+$/, "").replace(/\.$/, "") : base;
  return power === undefined ? short : `${short}e${power.replace("+", "")}`;
}

/** A value of any kind in one line. */
export function cell(value: unknown): string {
  if (value === null || value === undefined) return MISSING;
  if (typeof value === "number") return number(value);
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return value ? "true" : "false";
  return JSON.stringify(value);
}

/** Mean and spread with as many digits as the spread is sure of. */
export function meanStd(mean: Num, std: Num, n: number): string {
  if (typeof mean !== "number" || n < 2 || typeof std !== "number") return number(mean);
  if (std === 0) return `${number(mean)} ± 0`;
  const places = Math.max(0, 1 - Math.floor(Math.log10(std)));
  if (places > 8 || Math.abs(mean) >= 1e9) return scaled(mean, std);
  return `${mean.toFixed(places)} ± ${std.toFixed(places)}`;
}

/** Very large and very small: both in the power of ten of the larger one. */
function scaled(mean: number, std: number): string {
  const power = Math.floor(Math.log10(Math.max(Math.abs(mean), std)));
  const unit = 10 ** power;
  const places = Math.min(8, Math.max(0, 1 - Math.floor(Math.log10(std / unit))));
  return `(${(mean / unit).toFixed(places)} ± ${(std / unit).toFixed(places)})e${power}`;
}

const UNITS: [seconds: number, unit: string][] = [[86400, "d"], [3600, "h"], [60, "m"], [1, "s"]];

/** 83 seconds are "1m 23s": two units, no more. */
export function duration(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined || !Number.isFinite(seconds)) return MISSING;
  if (seconds < 0) return `-${duration(-seconds)}`;
  if (seconds < 1) return seconds === 0 ? "0s" : `${Math.round(seconds * 1000)}ms`;
  if (seconds < 10) return `${seconds.toFixed(1)}s`;
  const whole = Math.round(seconds);
  const first = UNITS.findIndex(([size]) => whole >= size);
  const [size, unit] = UNITS[first]!;
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((whole % size) / next[0]) : 0;
  return `${Math.floor(whole / size)}${unit}${rest > 0 && next ? ` ${rest}${next[1]}` : ""}`;
}

export function ago(time: number, now: number): string {
  const since = now - time;
  if (since < 1) return "now";
  const whole = Math.floor(since);
  const [size, unit] = UNITS.find(([least]) => whole >= least) ?? [1, "s"];
  return `${Math.floor(whole / size)}${unit} ago`;
}

export function clock(time: number): string {
  const at = new Date(time * 1000);
  const two = (n: number): string => String(n).padStart(2, "0");
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
  return `${day} ${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export function bytes(size: number): string {
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let at = 0;
  while (size >= 1000 && at < units.length - 1) {
    size /= 1000;
    at += 1;
  }
  return `${at === 0 ? size : size.toPrecision(3)} ${units[at]}`;
}

export const count = (n: number): string => n.toLocaleString("en");
export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;

const BROKEN = new Set(["failed", "killed", "lost"]);

/** A share as it may be shown, of 1: what did not end well is never all of it, also when its last bar was full. */
export function shareOf(share: number, state = ""): number {
  return Math.max(0, Math.min(BROKEN.has(state) ? 0.99 : 1, share));
}

/** As arithmetic takes it. */
export function toNumber(value: Num | undefined): number {
  if (value === "inf") return Infinity;
  if (value === "-inf") return -Infinity;
  return value ?? NaN;
}
