import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { Alert, Now } from "~/api/now";
import { useAgain } from "~/live/again";
import { Empty, Notice, StateMark, Waiting } from "~/part/parts";
import { Hosts } from "~/page/now/hosts";
import "~/page/now/now.css";
import { sorted } from "~/page/now/order";
import { Questions } from "~/page/now/questions";
import { RunCard } from "~/page/now/run";
import { asked, set } from "~/route/router";
import { ago, clock, count, plural } from "~/text/format";

const EVERY_MS = 1000;
const SILENT_MS = 5000; // a stall shows only by its silence

export default function NowPage(): JSX.Element {
  const query = asked("q");
  const now = useFetched(query, (signal) => get<Now>("/now", { query }, signal));
  const runs = now.data ? sorted(now.data.runs) : undefined;
  const moves = !!now.data && (now.data.runs.some((run) => run.state === "running") || now.data.workers.length > 0);
  useAgain(["runs", "queues", "watches", "questions"], now.again, EVERY_MS, moves ? SILENT_MS : undefined);
  const [all, setAll] = useState(false);
  return (
    <div class="now">
      <div class="page-head">
        <h1>Now</h1>
        {now.data && <Counts now={now.data} />}
        <span class="grow" />
        <input class="field" type="search" placeholder="Only runs such as lr<0.1 or tag:demo" aria-label="Only these runs" value={query} onInput={(event) => set({ q: event.currentTarget.value })} />
      </div>
      {now.error && <Notice error={now.error} />}
      {now.data?.troubles.map((text) => <Notice key={text} error={text} warn />)}
      {!now.data && !now.error && <Waiting height={360} />}
      {now.data && runs && (
        <div class="now-body">
          <div class="now-main">
            <Questions asked={now.data.questions} now={now.data.time} />
            {runs.trouble.length > 0 && (
              <section aria-labelledby="trouble">
                <h2 id="trouble" class="warn-text">Look at these</h2>
                <div class="now-runs">{runs.trouble.map((run) => <RunCard key={run.id} run={run} trouble />)}</div>
              </section>
            )}
            {runs.running.length > 0 && (
              <section aria-labelledby="running">
                <h2 id="running">Running</h2>
                <div class="now-runs">{(all ? runs.running : runs.running.slice(0, 100)).map((run) => <RunCard key={run.id} run={run} />)}</div>
                {!all && runs.running.length > 100 && <button type="button" class="button" onClick={() => setAll(true)}>{count(runs.running.length - 100)} more</button>}
              </section>
            )}
            {runs.trouble.length + runs.running.length === 0 && (
              <Empty title={query ? "No run like this is running" : "Nothing is running"} command={query ? "" : "paddock run train.py"}>
                {!query && "What runs on any host of this home is here: where, how far, and how long it will still take."}
              </Empty>
            )}
            {runs.ended.length > 0 && (
              <section aria-labelledby="ended">
                <h2 id="ended">Ended in the last hour</h2>
                <ul class="ended card">
                  {runs.ended.slice(0, 30).map((run) => (
                    <li key={run.id}>
                      <StateMark state={run.state} />
                      <a class="cut" href={`/runs/${encodeURIComponent(run.id)}`}>{run.name}</a>
                      <span class="muted cut">{run.reason && run.state !== "finished" ? run.reason : run.project}</span>
                      <span class="muted small number">{run.ended ? ago(run.ended, now.data!.time) : ""}</span>
                    </li>
                  ))}
                </ul>
              </section>
            )}
          </div>
          <aside class="now-side" aria-label="Hosts, queues and alerts">
            <Alerts alerts={now.data.alerts} now={now.data.time} />
            <Queues now={now.data} />
            <Hosts hosts={now.data.hosts} workers={now.data.workers} />
          </aside>
        </div>
      )}
    </div>
  );
}

function Counts({ now }: { now: Now }): JSX.Element {
  const order = ["running", "stalled", "lost", "failed", "killed", "finished"];
  const shown = order.filter((name) => (now.counts[name] ?? 0) > 0);
  return <span class="now-counts">{shown.map((name) => <span key={name} class={`state ${name}`}>{count(now.counts[name]!)} {name}</span>)}</span>;
}

function Alerts({ alerts, now }: { alerts: Alert[]; now: number }): JSX.Element | null {
  if (alerts.length === 0) return null;
  return (
    <section class="card" aria-labelledby="alerts">
      <header><h2 id="alerts">Alerts</h2></header>
      <ul class="alerts">
        {alerts.map((alert, at) => (
          <li key={`${alert.run} ${alert.time} ${at}`}>
            <b class={alert.level === "error" ? "bad-text" : "warn-text"}>{alert.title}</b> {alert.text}
            <div class="muted small"><a href={`/runs/${encodeURIComponent(alert.run)}?tab=about`}>{alert.run_name}</a>, <time title={clock(alert.time)}>{ago(alert.time, now)}</time></div>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Queues({ now }: { now: Now }): JSX.Element | null {
  if (now.queues.length === 0) return null;
  return (
    <section class="card" aria-labelledby="queues">
      <header><h2 id="queues">Queues</h2></header>
      <ul class="alerts">
        {now.queues.map((queue) => {
          const waiting = (queue.counts["queued"] ?? 0) + (queue.counts["checking"] ?? 0);
          return (
            <li key={queue.name} class="row">
              <a href={`/queue/${encodeURIComponent(queue.name)}`}>{queue.name}</a>
              <span class="muted small">{plural(waiting, "task waits", "tasks wait")}, {queue.slots === 0 ? "no worker" : `${queue.busy} of ${plural(queue.slots, "slot")} busy`}{(queue.counts["failed"] ?? 0) > 0 && `, ${queue.counts["failed"]} failed`}</span>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
