import type { JSX } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { Evaluations, Relations } from "~/api/about";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { Detail, RunsEvent } from "~/api/types";
import { useAgain } from "~/live/again";
import { useLive } from "~/live/live";
import { Empty, Notice, Waiting } from "~/part/parts";
import { CodeTab } from "~/page/run/about/code";
import { FilesTab } from "~/page/run/about/files";
import { Sheet } from "~/page/run/about/sheet";
import { UsageTab } from "~/page/run/about/usage";
import { Charts } from "~/page/run/chart/charts";
import { changedDetail } from "~/page/run/change";
import { Asks, useWhy } from "~/page/run/asks";
import { Head } from "~/page/run/head";
import { Log } from "~/page/run/log/log";
import "~/page/run/run.css";
import { asked, set } from "~/route/router";
import { useKeys } from "~/shell/keys";

const TABS = [["charts", "Charts"], ["log", "Log"], ["about", "About"], ["code", "Code"], ["usage", "Usage"], ["files", "Files"]] as const;
type Tab = (typeof TABS)[number][0];
const AGAIN_MS = 1500;
const RELATED_MS = 3000; // between two looks at who waits for it

export default function RunPage({ id }: { id: string }): JSX.Element {
  const path = `/runs/${encodeURIComponent(id)}`;
  const detail = useFetched(id, (signal) => get<Detail>(path, {}, signal));
  const evaluations = useFetched(id, (signal) => get<Evaluations>(`${path}/evaluations`, {}, signal));
  // What is not in the row (writers, records, relations) is asked for again a little later than it happens.
  const timer = useRef(0);
  const soon = (): void => {
    if (timer.current) return;
    timer.current = window.setTimeout(() => {
      timer.current = 0;
      detail.again();
    }, AGAIN_MS);
  };
  const run = detail.data?.run;
  const own = run?.id;
  const state = run?.state;
  useEffect(() => () => clearTimeout(timer.current), []);
  const tab = tabOf(asked("tab"));
  const related = tab === "about" ? own : undefined;
  const relations = useFetched(`${related} ${state}`, async (signal) => (related ? get<Relations>(`/runs/${encodeURIComponent(related)}/relations`, {}, signal) : undefined));
  const why = useWhy(run);
  useAgain(related ? ["queues"] : undefined, relations.again, RELATED_MS);
  useLive({ kinds: ["runs", "watches"] }, (kind, data: RunsEvent) => {
    const anew = kind === "hello" || kind === "resync";
    if (anew) detail.again();
    if (anew || kind === "watches") evaluations.again();
    if (kind !== "runs") return;
    detail.change((known) => changedDetail(known, data));
    // One that is not here may be there now, or be other than in the answer that is on its way.
    if (!own || data.changed.some((one) => one.id === own && one.state)) soon();
  });
  useKeys("Run", TABS.map(([name, title], at) => ({ keys: String(at + 1), about: title, run: () => choose(name) })));
  useEffect(() => {
    if (run) document.title = `${run.name} · Paddock`;
    return () => void (document.title = "Paddock");
  }, [run?.name]);
  if (detail.error && !detail.data) {
    if (detail.error.status === 404) return <Empty title="There is no such run" command="paddock ls">{detail.error.message} {detail.error.hint.startsWith("Did") && detail.error.hint}</Empty>;
    return <Notice error={detail.error} />;
  }
  if (!detail.data || !run) return <Placeholder />;
  return (
    <div class="run-page">
      <Head run={run} onStar={(star) => detail.change((known) => ({ ...known, run: { ...known.run, star } }))} evaluations={evaluations.data} why={why} />
      <Asks run={run} />
      <div class="run-tabs" role="tablist" aria-label="Of this run">
        {TABS.map(([name, title]) => (
          <button type="button" role="tab" key={name} id={`tab-${name}`} aria-selected={tab === name} aria-controls="tab-panel" tabIndex={tab === name ? 0 : -1} onClick={() => choose(name)} onKeyDown={(event) => step(event, tab)}>{title}</button>
        ))}
      </div>
      <div id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
        {tab === "charts" && <Charts run={run} evaluations={evaluations.data} />}
        {tab === "log" && <Log run={run} />}
        {tab === "about" && <Sheet detail={detail.data} relations={relations.data} />}
        {tab === "code" && <CodeTab run={run} />}
        {tab === "usage" && <UsageTab run={run} />}
        {tab === "files" && <FilesTab detail={detail.data} />}
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
  set({ tab: tab === "charts" ? undefined : tab, zoom: undefined, chart: undefined, shown: undefined }, true);
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
