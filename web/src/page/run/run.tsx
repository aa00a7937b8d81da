import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Evaluations, Relations } from "~/api/about";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { Detail, Run, RunsEvent } from "~/api/types";
import { useLive } from "~/live/live";
import { Empty, Notice, Waiting } from "~/part/parts";
import { CodeTab } from "~/page/run/about/code";
import { FilesTab } from "~/page/run/about/files";
import { Sheet } from "~/page/run/about/sheet";
import { UsageTab } from "~/page/run/about/usage";
import { Charts } from "~/page/run/chart/charts";
import { changedRun } from "~/page/run/change";
import { Head } from "~/page/run/head";
import { Log } from "~/page/run/log/log";
import "~/page/run/run.css";
import { asked, set } from "~/route/router";
import { useKeys } from "~/shell/keys";

const TABS = [["charts", "Charts"], ["log", "Log"], ["about", "About"], ["code", "Code"], ["usage", "Usage"], ["files", "Files"]] as const;
type Tab = (typeof TABS)[number][0];
const AGAIN_MS = 1500;

export default function RunPage({ id }: { id: string }): JSX.Element {
  const path = `/runs/${encodeURIComponent(id)}`;
  const detail = useFetched(id, (signal) => get<Detail>(path, {}, signal));
  const evaluations = useFetched(id, (signal) => get<Evaluations>(`${path}/evaluations`, {}, signal));
  const [run, setRun] = useState<Run>();
  useEffect(() => {
    if (detail.data) setRun(detail.data.run);
  }, [detail.data]);
  // What is not in the row (writers, records, relations) is asked for again a little later than it happens.
  const timer = useRef(0);
  const soon = (): void => {
    if (timer.current) return;
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      detail.again();
    }, AGAIN_MS);
  };
  const own = detail.data?.run.id;
  useEffect(() => () => clearTimeout(timer.current), []);
  const state = run?.state;
  useEffect(() => {
    if (detail.data && state && state !== detail.data.run.state) soon();
  }, [state]);
  const [relations, setRelations] = useState<Relations>();
  useEffect(() => {
    if (!own) return;
    const stop = new AbortController();
    get<Relations>(`/runs/${encodeURIComponent(own)}/relations`, {}, stop.signal).then(setRelations, () => undefined);
    return () => stop.abort();
  }, [own, state]);
  useLive({ kinds: ["runs", "watches"] }, (kind, data: RunsEvent) => {
    if (kind === "resync") detail.again();
    if (kind === "watches") evaluations.again();
    if (kind === "runs") setRun((before) => before && changedRun(before, data));
  });
  const tab = tabOf(asked("tab"));
  useKeys("Run", TABS.map(([name, title], at) => ({ keys: String(at + 1), about: title, run: () => choose(name) })));
  useEffect(() => {
    if (run) document.title = `${run.name} · Paddock`;
    return () => void (document.title = "Paddock");
  }, [run?.name]);
  if (detail.error && !detail.data) {
    if (detail.error.status === 404) return <Empty title="There is no such run" command="paddock ls">{detail.error.message} {detail.error.hint}</Empty>;
    return <Notice error={detail.error} />;
  }
  if (!detail.data || !run) return <Placeholder />;
  return (
    <div class="run-page">
      <Head run={run} onRun={setRun} evaluations={evaluations.data} />
      <div class="run-tabs" role="tablist" aria-label="Of this run">
        {TABS.map(([name, title]) => (
          <button type="button" role="tab" key={name} id={`tab-${name}`} aria-selected={tab === name} aria-controls="tab-panel" tabIndex={tab === name ? 0 : -1} onClick={() => choose(name)} onKeyDown={(event) => step(event, tab)}>{title}</button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "charts" && <Charts run={run} evaluations={evaluations.data} />}
        {tab === "log" && <Log run={run} />}
        {tab === "about" && <Sheet detail={{ ...detail.data, run }} relations={relations} />}
        {tab === "code" && <CodeTab run={run} />}
        {tab === "usage" && <UsageTab run={run} />}
        {tab === "files" && <FilesTab detail={{ ...detail.data, run }} />}
      </div>
    </div>
  );
}

function Placeholder(): JSX.Element {
  return (
    <div class="run-page">
      <div class="run-head"><Waiting height={58} /></div>
      <div class="run-tabs"><Waiting height={36} /></div>
      <Waiting height={400} />
    </div>
  );
}

function tabOf(word: string): Tab {
  return TABS.find(([name]) => name === word)?.[0] ?? "charts";
}

function choose(tab: Tab): void {
  set({ tab: tab === "charts" ? undefined : tab, zoom: undefined, chart: undefined }, true);
}

/** Arrows go through the tabs, as people who use no mouse expect. */
function step(event: KeyboardEvent, tab: Tab): void {
  const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
  if (by === 0) return;
  event.preventDefault();
  const at = TABS.findIndex(([name]) => name === tab);
  const next = TABS[(at + by + TABS.length) % TABS.length]![0];
  choose(next);
  requestAnimationFrame(() => document.getElementById(`tab-${next}`)?.focus());
}
