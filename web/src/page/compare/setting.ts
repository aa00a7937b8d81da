/** What a comparison shows, as its address says: the same on its page and inside of a report. */
import type { Value } from "~/route/place";

export const SHOWN = [["curves", "Curves"], ["differences", "Differences"], ["results", "Results"], ["scatter", "Scatter"], ["parallel", "Parallel"]] as const;
export type Shown = (typeof SHOWN)[number][0];

export interface Setting {
  runs: string[];
  show: Shown;
  metrics: string[];
  row: string;
  col: string;
  hue: string;
  dash: string;
  /** "" is as it seems right: fold when there is something to fold. */
  fold: "" | "1" | "0";
  stats: string[];
  sx: string;
  sy: string;
  every: boolean;
  /** Of parallel coordinates: KEY~LOW~HIGH, shares of the axis. */
  picks: string[];
}

export type Change = (changes: Readonly<Record<string, Value>>) => void;

export function settingOf(query: URLSearchParams): Setting {
  const word = (name: string): string => query.get(name) ?? "";
  const show = word("show");
  const fold = word("fold");
  return {
    runs: [...new Set(query.getAll("run").flatMap((item) => item.split(",")).filter(Boolean))].slice(0, 200),
    show: SHOWN.some(([name]) => name === show) ? (show as Shown) : "curves",
    metrics: query.getAll("metric"),
    row: word("row"),
    col: word("col"),
    hue: word("hue"),
    dash: word("dash"),
    fold: fold === "1" || fold === "0" ? fold : "",
    stats: query.getAll("stat"),
    sx: word("sx"),
    sy: word("sy"),
    every: word("every") === "1",
    picks: query.getAll("pick"),
  };
}
