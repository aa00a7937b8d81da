import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { runsNamed } from "~/api/board";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { Queues } from "~/api/queue";
import type { WatchDetail } from "~/api/watch";
import { color } from "~/chart/colors";
import type { Line } from "~/chart/line";
import { Plot } from "~/chart/plot";
import { setZoom, useView } from "~/chart/view";
import { useAgain } from "~/live/again";
import { Command, Empty, Notice, Waiting } from "~/part/parts";
import { baseName, within } from "~/page/run/chart/scores";
import { Counts } from "~/page/watches/counts";
import { byCheckpoint, metricsOf, tracks } from "~/page/watches/scores";
import { Checkpoints } from "~/page/watches/table";
import { Keeper, moves } from "~/page/watches/watches";
import "~/page/watches/watches.css";
import { asked, set } from "~/route/router";
import { dark } from "~/shell/theme";
import { number } from "~/text/format";
import { quoted } from "~/text/shell";

const MOST = 20_000;
const IDLE_MS = 5000;
const PART_MS = 2; // and for each evaluation: an answer with many costs more
const MOST_NAMED = 100;
type Names = ReadonlyMap<string, string>;

export default function WatchPage({ id }: { id: string }): JSX.Element {
  const watch = useFetched(id, (signal) => get<WatchDetail>(`/watches/${encodeURIComponent(id)}`, { limit: MOST }, signal));
  useAgain(["watches", "queues"], watch.again, 1000, watch.data && moves(watch.data) ? IDLE_MS + PART_MS * watch.data.evaluations.length : undefined);
  if (watch.error && !watch.data) {
    if (watch.error.status === 404) return <Empty title="There is no such watch" command="paddock watch ls">{watch.error.message}</Empty>;
    return <Notice error={watch.error} />;
  }
  if (!watch.data) return <Waiting height={420} />;
  return <Shown watch={watch.data} />;
}

/** What the trainings are called; as far as there is room in a question. */
function useNames(watch: WatchDetail): Names {
  const ids = useMemo(() => [...new Set(watch.evaluations.flatMap((one) => one.run ?? []))].slice(-MOST_NAMED), [watch]);
  const found = useFetched(ids.join(), (signal) => runsNamed(ids, signal));
  return useMemo(() => new Map((found.data ?? []).map((run) => [run.id, run.name])), [found.data]);
}

function Shown({ watch }: { watch: WatchDetail }): JSX.Element {
  const state = asked("state");
  const metrics = useMemo(() => metricsOf(watch.evaluations), [watch]);
  const usual = watch.best && metrics.includes(watch.best.metric) ? watch.best.metric : metrics[0] ?? "";
  const metric = metrics.includes(asked("metric")) ? asked("metric") : usual;
  const find = asked("find").toLowerCase();
  const fitting = watch.evaluations.filter((one) => (!state || one.state === state) && (!find || `${one.checkpoint} ${one.reason}`.toLowerCase().includes(find)));
  const rows = useMemo(() => byCheckpoint(fitting), [watch, state, find]);
  const names = useNames(watch);
  return (
    <div class="watch">
      <div class="page-head">
        <h1 class="cut" title={watch.directory}>{baseName(watch.directory)}</h1>
        <Keeper watch={watch} />
        <span class="muted cut mono">{watch.directory}</span>
      </div>
      {!watch.watched && <p class="row watch-note"><span class="warn-text">Nobody watches it now: new checkpoints are not seen.</span> <Command text={`paddock watch ${quoted(watch.directory)} --evaluator …`} /></p>}
      {watch.watchers.filter((one) => one.state !== "alive").map((one) => <Notice key={one.watcher} warn error={`The watcher ${one.watcher} is ${one.state}.`} />)}
      {watch.best && (
        <p class="watch-best">Best: <b>{number(watch.best.value)}</b> {watch.best.metric}, by <b>{within(watch.directory, watch.best.checkpoint)}</b>{watch.best.step !== null && ` at step ${watch.best.step}`}</p>
      )}
      {metrics.length > 0 && <Scores watch={watch} names={names} metrics={metrics} metric={metric} usual={usual} />}
      <div class="log-bar">
        <Counts counts={watch.counts} chosen={state} onChoose={(value) => set({ state: value })} />
        {(watch.counts["pending"] ?? 0) > 0 && <Where watch={watch} />}
        <span class="grow" />
        <input class="field" type="search" placeholder="Find a checkpoint" aria-label="Find a checkpoint" value={asked("find")} onInput={(event) => set({ find: event.currentTarget.value })} />
      </div>
      {watch.evaluations.length === 0
        ? <Empty title="No checkpoint was found yet" command={`paddock watch show ${quoted(watch.directory)}`}>As soon as a training writes one here, it is evaluated.</Empty>
        : <Checkpoints rows={rows} directory={watch.directory} names={names} evaluators={watch.evaluators} best={watch.best} />}
    </div>
  );
}

/** In which queue evaluations wait, and whether anybody works on it. */
function Where({ watch }: { watch: WatchDetail }): JSX.Element | null {
  const queues = useFetched("queues", (signal) => get<Queues>("/queues", {}, signal));
  useAgain(["queues"], queues.again, 2000);
  const found = (queues.data?.queues ?? []).filter((one) => watch.queues.includes(one.path));
  if (found.length === 0) return null;
  return (
    <span class="small">
      {found.map((one) => <span key={one.path}>they wait in <a href={`/queue/${encodeURIComponent(one.queue)}`}>{one.queue}</a>{one.workers === 0 && <span class="warn-text">, on which nobody works</span>} </span>)}
    </span>
  );
}

function Scores({ watch, names, metrics, metric, usual }: { watch: WatchDetail; names: Names; metrics: string[]; metric: string; usual: string }): JSX.Element {
  const view = useView();
  const [focus] = useState("");
  const isDark = dark.value;
  const lines = useMemo(() => tracks(watch.evaluations, metric, watch.best, watch.directory).flatMap((track, at): Line[] => {
    const label = track.run ? `${metric} of ${names.get(track.run) ?? track.run}` : metric;
    const base = { label, color: color(at, isDark), x: track.x, y: track.y };
    return [{ ...base, key: track.key, width: 1.2 }, { ...base, key: `${track.key} dots`, dots: track.dots }];
  }), [watch, names, metric, isDark]);
  return (
    <article class="chart-card watch-chart">
      <header>
        <h2>Over the steps</h2>
        <select class="field" aria-label="metric" value={metric} onChange={(event) => set({ metric: event.currentTarget.value === usual ? undefined : event.currentTarget.value })}>
          {metrics.map((one) => <option key={one}>{one}</option>)}
        </select>
        <button type="button" class="button" aria-pressed={view.logY} onClick={() => set({ log: view.logY ? undefined : "y" })}>log y</button>
        <button type="button" class="button" disabled={!view.zoom} onClick={() => setZoom(undefined)}>Reset zoom</button>
      </header>
      <Plot lines={lines} height={260} title={`${metric} over the steps`} counts="step" logY={view.logY} zoom={view.zoom} onZoom={setZoom} focus={focus} />
    </article>
  );
}
