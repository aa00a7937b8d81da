import type { JSX } from "preact";
import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Evaluations } from "~/api/about";
import type { Run } from "~/api/types";
import { Controls, setZoom, useView } from "~/chart/view";
import { link, useLive } from "~/live/live";
import { Command, Empty, Notice } from "~/part/parts";
import { Card } from "~/page/run/chart/card";
import { Curves, type PointsEvent } from "~/page/run/chart/curves";
import { epochOf, grouped } from "~/page/run/chart/groups";
import { asked, set } from "~/route/router";
import { useKeys } from "~/shell/keys";
import { plural } from "~/text/format";

const FOLLOWED = 60; // series: a server follows 200 things for one page
const SETTLED_MS = 250; // a page that is being scrolled asks for no new stream

/** All metrics of a run; one chart alone when the address names it. */
export function Charts({ run, evaluations }: { run: Run; evaluations: Evaluations | undefined }): JSX.Element {
  const curves = useMemo(() => new Curves(run.id), [run.id]);
  useEffect(() => () => curves.close(), [curves]);
  const view = useView();
  const wanted = asked("metric");
  const large = asked("chart");
  const names = Object.keys(run.metrics).join("\n");
  const metrics = useMemo(() => Object.keys(run.metrics), [names]);
  const groups = useMemo(() => grouped(metrics, wanted), [metrics, wanted]);
  const seen = useSeen(run, curves);
  const onLarge = useCallback((metric: string) => set({ chart: metric }, true), []);
  const find = useRef<HTMLInputElement>(null);
  useKeys("Charts", [
    { keys: "/", about: "find a metric", run: () => find.current?.focus() },
    { keys: "0", about: "zoom out", run: () => setZoom(undefined) },
    { keys: "Escape", about: "back to all charts", run: () => set({ chart: undefined }) },
  ]);
  if (metrics.length === 0) {
    return (
      <Empty title={over(run) ? "No metrics" : "No metrics yet"}>
        {over(run) ? <>The script logged none; what it printed is in its <a href={`/runs/${encodeURIComponent(run.id)}?tab=log`}>log</a>. A line of Python logs some: </> : "They appear here while the script logs them: "}
        <br /><br />
        <Command text={'paddock.log({"train/loss": loss}, step=step)'} />
      </Empty>
    );
  }
  const card = (metric: string, one = false): JSX.Element => (
    <Card key={metric} metric={metric} metrics={metrics} stat={run.metrics[metric]} curves={curves} view={view} began={run.started ?? run.created} evaluations={evaluations} large={one} onSeen={seen} onLarge={onLarge} />
  );
  return (
    <div class="charts">
      <div class="charts-bar">
        <Controls view={view} epoch={epochOf(metrics) !== undefined} />
        <input ref={find} class="field" type="search" placeholder="Find a metric  /" aria-label="Find a metric" value={wanted} onInput={(event) => set({ metric: event.currentTarget.value })} onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()} />
      </div>
      {curves.error.value && <Notice error={curves.error.value} />}
      {large && run.metrics[large] ? card(large, true) : <div class="chart-sections">{groups.map((group) => <Section key={group.name} name={group.name} count={group.metrics.length}>{group.metrics.map((metric) => card(metric))}</Section>)}</div>}
      {!large && groups.length === 0 && <p class="muted none">No metric has all of these words in its name.</p>}
    </div>
  );
}

const over = (run: Run): boolean => run.ended !== null;

function Section({ name, count, children }: { name: string; count: number; children: JSX.Element[] }): JSX.Element {
  const closed = new Set(asked("closed").split(",").filter(Boolean));
  const key = encodeURIComponent(name || "-");
  const isClosed = closed.has(key);
  const turn = (): void => {
    if (isClosed) closed.delete(key);
    else closed.add(key);
    set({ closed: [...closed].join(",") });
  };
  return (
    <section class={`chart-section ${count === 1 ? "one" : count === 2 ? "two" : ""}`}>
      <h2>
        <button type="button" class="turn" aria-expanded={!isClosed} onClick={turn}>
          <span aria-hidden="true">{isClosed ? "▸" : "▾"}</span> {name || "without a group"} <span class="muted small">{plural(count, "chart")}</span>
        </button>
      </h2>
      {!isClosed && <div class="chart-grid">{children}</div>}
    </section>
  );
}

/** Follows the series of charts that are on the screen, and says what a chart calls when it comes or goes. */
function useSeen(run: Run, curves: Curves): (metric: string, seen: boolean) => void {
  const there = useRef(new Set<string>());
  const [followed, setFollowed] = useState<readonly string[]>([]);
  const timer = useRef(0);
  const onSeen = useCallback((metric: string, seen: boolean) => {
    if (seen) there.current.add(metric);
    else there.current.delete(metric);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setFollowed([...there.current].sort().slice(0, FOLLOWED)), SETTLED_MS);
  }, []);
  useEffect(() => () => clearTimeout(timer.current), []);
  const live = run.state === "running";
  useLive({ points: live ? followed.map((metric) => `${run.id}:${metric}`) : [] }, (kind, data: PointsEvent) => {
    if (kind === "resync") curves.again();
    if (kind === "points" && data.run === run.id) curves.add(data);
  });
  // Whatever was written between the answer and the stream is asked for when the stream is there.
  const linked = link.value;
  useEffect(() => {
    if (live && linked === "live" && followed.length > 0) void curves.catchUp(followed);
  }, [linked, followed.join("\n"), live]);
  useEffect(() => {
    if (!live) curves.again();
  }, [live]);
  return onSeen;
}
