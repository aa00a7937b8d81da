import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import "~/page/compare/compare.css";
import type { Run } from "~/api/types";
import { viewOf } from "~/chart/view";
import { Curves } from "~/page/compare/curves";
import { Differences } from "~/page/compare/differences";
import { Parallel } from "~/page/compare/parallel";
import { differing, hasSeeds, teams as teamsOf, type Property, type Team } from "~/page/compare/properties";
import { Results } from "~/page/compare/resulttable";
import { metricsOf, resultsAmong, STATS, type StatName } from "~/page/compare/results";
import { Scatter } from "~/page/compare/scatter";
import { settingOf, type Change, type Setting } from "~/page/compare/setting";

export interface Material {
  setting: Setting;
  runs: readonly Run[];
  properties: readonly Property[];
  teams: readonly Team[];
  folded: boolean;
  canFold: boolean;
  every: readonly string[];
  metrics: readonly string[];
  stats: readonly StatName[];
}

/** All that a comparison shows, made from the runs and its address. */
export function materialOf(query: URLSearchParams, runs: readonly Run[]): Material {
  const setting = settingOf(query);
  const properties = differing(runs);
  const canFold = hasSeeds(runs, properties);
  const folded = canFold && setting.fold !== "0";
  const every = metricsOf(runs);
  const known = setting.metrics.filter((metric) => every.includes(metric));
  const metrics = known.length > 0 ? known : resultsAmong(every, properties).slice(0, setting.show === "results" ? 6 : 3);
  const asked = STATS.filter((stat) => setting.stats.includes(stat));
  return { setting, runs, properties, canFold, folded, every, metrics, stats: asked.length > 0 ? asked : ["best"], teams: teamsOf(runs, properties, folded) };
}

/** The part of a comparison that its address says; `onChange` is missing where it is only looked at. */
export function Comparison({ query, runs, onChange }: { query: URLSearchParams; runs: readonly Run[]; onChange?: Change }): JSX.Element {
  const material = useMemo(() => materialOf(query, runs), [query, runs]);
  const { setting, properties, teams, folded, metrics, stats } = material;
  const view = viewOf(query);
  switch (setting.show) {
    case "differences":
      return <Differences runs={runs} every={setting.every} onChange={onChange ?? (() => undefined)} />;
    case "results":
      return <Results {...{ runs, teams, properties, metrics, stats, folded }} {...(onChange ? { onChange } : {})} />;
    case "scatter":
      return <Scatter {...{ runs, properties, metrics: material.every }} sx={setting.sx} sy={setting.sy} hue={setting.hue} logX={view.logX} logY={view.logY} {...(onChange ? { onChange } : {})} />;
    case "parallel":
      return <Parallel runs={runs} properties={properties} metric={metrics[0] ?? ""} picks={setting.picks} {...(onChange ? { onChange } : {})} />;
    default:
      return <Curves {...{ runs, properties, teams, folded, metrics }} facets={setting} view={view} onChange={onChange ?? (() => undefined)} />;
  }
}
