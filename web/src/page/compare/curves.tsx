import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import type { ApiError } from "~/api/client";
import type { Run } from "~/api/types";
import { counted, kindOf, stepsWithin } from "~/chart/axis";
import { color, DASHES } from "~/chart/colors";
import { Legend, type Entry } from "~/chart/legend";
import { union, type Line, type Range } from "~/chart/line";
import { Plot } from "~/chart/plot";
import { useSeries } from "~/chart/series";
import { zoomText, type View } from "~/chart/view";
import { useVisible } from "~/chart/visible";
import { Notice, Waiting } from "~/part/parts";
import { dark } from "~/shell/theme";
import { useBands } from "~/page/compare/bands";
import { layout, type Facets } from "~/page/compare/facets";
import { bandLine, courseLines, coursesOf, FOLDED, label, placedLines } from "~/page/compare/lines";
import type { Property, Team } from "~/page/compare/properties";
import type { Change } from "~/page/compare/setting";
import { epochOf } from "~/page/run/chart/groups";

export interface CurvesProps {
  runs: readonly Run[];
  properties: readonly Property[];
  teams: readonly Team[];
  folded: boolean;
  metrics: readonly string[];
  facets: Facets;
  view: View;
  onChange: Change;
  height?: number;
}

/** One row of panels for each metric. */
export function Curves(props: CurvesProps): JSX.Element {
  const found = useMemo(() => layout(props.teams, props.properties, props.facets), [props.teams, props.properties, JSON.stringify(props.facets)]);
  const [focus, setFocus] = useState("");
  const isDark = dark.value;
  const entries: Entry[] = found.hues.length > 0
    ? found.hues.map((label, at) => ({ key: `hue ${at}`, label, color: color(at, isDark) }))
    : props.teams.slice(0, 60).map((team, at) => ({ key: team.key, label: label(team), color: color(at, isDark) }));
  const dashes: Entry[] = found.dashes.map((text, at) => ({ key: `dash ${at}`, label: text, color: "var(--muted)", dash: DASHES[at % DASHES.length]! }));
  return (
    <>
      <Legend entries={[...entries, ...dashes]} onFocus={setFocus} />
      {props.teams.length > 60 && found.hues.length === 0 && <p class="muted small">and {props.teams.length - 60} more; choose a colour by a property.</p>}
      {props.metrics.map((metric) => <Metric key={metric} {...props} metric={metric} found={found} focus={focus} />)}
    </>
  );
}

function Metric(props: CurvesProps & { metric: string; found: ReturnType<typeof layout>; focus: string }): JSX.Element {
  const { metric, found, view, folded, focus, onChange } = props;
  const [element, visible] = useVisible<HTMLElement>();
  const drawn = useLines(props, visible);
  const many = found.panels.length > 1;
  const height = props.height ?? (many ? 220 : 300);
  const columns = Math.max(1, found.cols.length);
  const among = useMemo(() => (many && drawn.lines ? [...drawn.lines.values()] : undefined), [many, drawn.lines]);
  const onZoom = (zoom: Range | undefined): void => onChange({ zoom: zoomText(zoom) });
  return (
    <section class="metric-curves" ref={element} aria-label={metric}>
      <h2>{metric}{folded && <span class="muted small"> mean ± std over seeds</span>}</h2>
      {drawn.error && <Notice error={drawn.error} />}
      <div class="facet-grid" tabIndex={many ? 0 : undefined} role="group" aria-label={`${metric}, panels`} style={{ gridTemplateColumns: `repeat(${columns}, minmax(min(100%, ${many ? 240 : 300}px), 1fr))` }}>
        {found.panels.map((panel) => (
          <div class="chart-card" key={`${panel.row}|${panel.col}`}>
            {many && <header><h3 class="cut small">{[panel.row, panel.col].filter(Boolean).join(", ")}</h3></header>}
            {drawn.lines ? (
              <Plot
                title={`${metric} ${panel.row} ${panel.col}`}
                lines={placedLines(panel.teams, drawn.lines, dark.value)}
                {...(among ? { among } : {})}
                height={height}
                kind={kindOf(view.axis)}
                {...counted(view.axis)}
                logX={view.logX}
                logY={view.logY}
                zoom={view.zoom}
                onZoom={onZoom}
                sync="compare"
                focus={focus.startsWith("hue ") ? "" : focus}
              />
            ) : <Waiting height={height} />}
          </div>
        ))}
      </div>
    </section>
  );
}

type Drawn = ReadonlyMap<string, Line>;

/** Another number when there are other points: those that still train are fetched again. */
const written = (runs: readonly Run[], metric: string): number => runs.reduce((sum, run) => sum + run.metrics[metric]!.count, 0);

function useLines({ runs, teams, folded, view, metric }: CurvesProps & { metric: string }, visible: boolean): { lines: Drawn | undefined; error: ApiError | undefined } {
  const ids = runs.map((run) => run.id);
  const having = useMemo(() => runs.filter((run) => run.metrics[metric]), [runs, metric]);
  const epoch = view.axis === "epoch" ? epochOf(runs.flatMap((run) => Object.keys(run.metrics)), metric) : undefined;
  const [steps, setSteps] = useState<Range | undefined>(undefined);
  const byServer = folded && view.axis === "step";
  const series = useSeries({
    runs: byServer ? [] : having.map((run) => run.id),
    metrics: epoch ? [metric, epoch] : [metric],
    range: view.zoom ? (view.axis === "step" ? view.zoom : steps) : undefined,
    times: view.axis === "time" || view.axis === "wall",
    points: runs.length > 60 ? 600 : runs.length > 20 ? 1000 : 1500,
    live: having.filter((run) => run.state === "running").map((run) => run.id),
    rest: !visible || byServer,
  });
  const bands = useBands(metric, teams.map((team) => team.members.map((at) => ids[at]!)), view.zoom, FOLDED, !visible || !byServer, written(having, metric));
  const courses = useMemo(() => coursesOf(byServer ? [] : runs, series.all, metric, view.axis, epoch), [byServer, series, runs, view.axis, metric]);
  const lines = useMemo(() => {
    if (byServer) return bands.bands && new Map(teams.flatMap((team, at) => {
      const band = bands.bands![at];
      return band && band.steps.length > 0 ? [[team.key, bandLine(team, band, view.smooth)] as const] : [];
    }));
    if (series.waiting && series.all.size === 0) return undefined;
    return courseLines(teams, ids, courses, folded, view.smooth);
  }, [byServer, folded, bands.bands, series, courses, teams, view.smooth]);
  // On another axis than the steps, those that are seen are found from the points that are there.
  const zoomKey = zoomText(view.zoom) ?? "";
  useEffect(() => {
    if (!view.zoom || view.axis === "step") return;
    const found = union([...courses.values()].map(({ raw, x }) => stepsWithin(raw, x, view.zoom!)));
    if (found) setSteps(found);
  }, [zoomKey]);
  return { lines, error: byServer ? bands.error : series.error };
}
