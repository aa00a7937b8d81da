import type { JSX } from "preact";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { Watched, WatchList } from "~/api/watch";
import { useAgain } from "~/live/again";
import { Empty, Notice, Waiting } from "~/part/parts";
import { baseName, within } from "~/page/run/chart/scores";
import { Counts } from "~/page/watches/counts";
import "~/page/watches/watches.css";
import { number, plural } from "~/text/format";

const IDLE_MS = 10_000;

/** Nobody tells that a watcher has died, that an evaluation has left its worker, or what happens in a queue elsewhere. */
export const moves = (watch: Watched): boolean => watch.watched || (watch.counts["running"] ?? 0) + (watch.counts["pending"] ?? 0) > 0;

export default function WatchesPage(): JSX.Element {
  const list = useFetched("watches", (signal) => get<WatchList>("/watches", {}, signal));
  useAgain(["watches", "queues"], list.again, 1000, list.data?.watches.some(moves) ? IDLE_MS : undefined);
  if (list.error && !list.data) return <Notice error={list.error} />;
  if (!list.data) return <Waiting height={360} />;
  if (list.data.watches.length === 0) {
    return (
      <Empty title="No directory is watched" command="paddock watch out --evaluator evaluate.py:test --detach">
        Every checkpoint that a training writes there is evaluated once, when it is complete, and its score lands at its step in the training's curve.
      </Empty>
    );
  }
  return (
    <div class="watches">
      <div class="page-head"><h1>Watches</h1><span class="muted">{plural(list.data.watches.length, "directory", "directories")}</span></div>
      <div class="watch-list">{list.data.watches.map((watch) => <Card key={watch.watch} watch={watch} />)}</div>
    </div>
  );
}

function Card({ watch }: { watch: Watched }): JSX.Element {
  const href = `/watches/${encodeURIComponent(watch.watch)}`;
  return (
    <article class="card watch-card">
      <header>
        <a class="cut grow" href={href} title={watch.directory}><b>{baseName(watch.directory)}</b> <span class="muted small">{watch.directory}</span></a>
        <Keeper watch={watch} />
      </header>
      <div class="watch-card-body">
        <Counts counts={watch.counts} />
        <dl class="facts">
          <dt>evaluators</dt><dd>{watch.evaluators.join(", ") || "none yet"}</dd>
          <dt>best</dt><dd>{watch.best ? <><b>{number(watch.best.value)}</b> {watch.best.metric} <span class="muted">by {within(watch.directory, watch.best.checkpoint)}</span></> : <span class="muted">no score yet</span>}</dd>
          <dt>last found</dt><dd>{watch.last ? <>{within(watch.directory, watch.last.checkpoint)} <span class="muted">{watch.last.state}</span></> : <span class="muted">no checkpoint yet</span>}</dd>
        </dl>
      </div>
    </article>
  );
}

/** Whether anybody watches, and who. */
export function Keeper({ watch }: { watch: Watched }): JSX.Element {
  const alive = watch.watchers.filter((one) => one.state === "alive");
  if (!watch.watched) return <span class="state paused" title="paddock watch begins again where it was">not watched now</span>;
  return <span class="state running">watched{alive.length > 0 && ` on ${[...new Set(alive.map((one) => one.host))].join(", ")}`}</span>;
}
