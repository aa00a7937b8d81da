import type { JSX } from "preact";
import { useState } from "preact/hooks";
import "~/page/runs/runs.css";
import { keysOf } from "~/api/board";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { RunList } from "~/api/types";
import { Choice, Empty, Waiting } from "~/part/parts";
import { asked, askedAll, go, set } from "~/route/router";
import { useKeys } from "~/shell/keys";
import { say } from "~/shell/toast";
import { count, plural } from "~/text/format";
import { and, these } from "~/text/query";
import { quoted } from "~/text/shell";
import { Filter, KeyMenu } from "~/page/runs/bar";
import { usual } from "~/page/runs/columns";
import { GroupTable } from "~/page/runs/grouped";
import type { Rows } from "~/page/runs/rows";
import { NoteDialog, sayOf, TagDialog } from "~/page/runs/say";
import { clear, MOST_COMPARED, selected } from "~/page/runs/selection";
import { RunTable } from "~/page/runs/table";

export default function Runs(): JSX.Element {
  const [q, sort, by, stat] = [asked("q"), asked("sort"), askedAll("by"), asked("stat", "best")];
  const [rows, setRows] = useState<Rows>();
  const keys = useFetched(q, (signal) => keysOf(q, signal));
  const chosen = askedAll("col");
  const columns = chosen.length > 0 ? chosen : usual(keys.data);
  const known = chosen.length > 0 || keys.data !== undefined || keys.error !== undefined; // which metrics there are
  const error = rows?.error ?? (keys.error?.code === "QueryError" ? keys.error : undefined);
  const grouped = by.length > 0;
  const metrics = columns.flatMap((key) => /^(?:best|last|min|max)\.(.+)$/.exec(key)?.[1] ?? []);
  const order = (key: string): void => set({ sort: sort === key ? `-${key}` : sort === `-${key}` ? undefined : key });
  const empty = !grouped && rows?.total === 0 && !error;
  return (
    <div class="runs-page">
      <div class="page-head">
        <h1>Runs</h1>
        <span class="muted total" role="status">{rows?.total === undefined ? "" : count(rows.total)}</span>
        <span class="grow" />
        {grouped && <Choice label="which value of a run" value={stat} options={["best", "last", "min", "max"]} onChoose={(next) => set({ stat: next === "best" ? undefined : next })} />}
        <KeyMenu label={grouped ? `By ${by.map((key) => key.replace(/^config\./, "")).join(", ")}` : "Group"} what="groups" keys={keys.data} chosen={by} onChange={(next) => set({ by: next, sort: undefined }, true)} end />
        <KeyMenu label="Columns" what="columns" keys={keys.data} chosen={columns} onChange={(next) => set({ col: next })} end />
      </div>
      <Filter q={q} error={error} onChange={(next) => set({ q: next })} />
      <Selected rows={rows} q={q} grouped={grouped} />
      {empty ? (
        <div class="card">{q ? <NothingFits q={q} /> : (
          <Empty title="No runs yet" command="python train.py">
            A script that calls <code>paddock.init()</code> and <code>run.log()</code> shows up here while it runs; so does what a worker takes from a queue.
          </Empty>
        )}</div>
      ) : null}
      {grouped && !known ? <Waiting height={240} /> : grouped ? (
        <GroupTable q={q} by={by} metrics={[...new Set(metrics)]} goals={new Map(keys.data?.metrics.map((one) => [one.name, one.goal]))} stat={stat} sort={sort} />
      ) : (
        <div class={`card runs-card${empty ? " gone" : ""}`}>
          <RunTable q={q} sort={sort} columns={columns} onSort={order} onRows={setRows} />
        </div>
      )}
    </div>
  );
}

const TRAININGS = "job_type!=eval";
/** The query without what leaves evaluations away. */
const without = (q: string): string => q.split(TRAININGS).map((part) => part.trim()).filter(Boolean).join(" ");

function NothingFits({ q }: { q: string }): JSX.Element {
  return (
    <div class="empty">
      <h2>No run fits this filter</h2>
      <p>The same filter works in the terminal: <code>{`paddock ls ${quoted(q)}`}</code></p>
      <button type="button" class="button" onClick={() => set({ q: undefined })}>Show all runs</button>
    </div>
  );
}

/** What can be done with the runs that are selected. Its place is always there. */
function Selected({ rows, q, grouped }: { rows: Rows | undefined; q: string; grouped: boolean }): JSX.Element {
  const ids = selected.value;
  const [dialog, setDialog] = useState<"tag" | { note: string }>();
  const close = (): void => {
    setDialog(undefined);
    setTimeout(() => rows?.again(), 300);
  };
  const compare = (): void => {
    if (ids.length < 2) say("Select two runs or more, with their boxes or with x.", true);
    else if (ids.length > MOST_COMPARED) say(`At most ${MOST_COMPARED} runs can be compared at once; ${count(ids.length)} are selected.`, true);
    else go("compare", "", { run: ids });
  };
  const note = async (): Promise<void> => {
    const [first] = ids.length === 1 ? (await get<RunList>("/runs", { q: these(ids), limit: 1 })).runs : [];
    setDialog({ note: first?.notes ?? "" });
  };
  const star = async (on: boolean): Promise<void> => {
    await sayOf(ids, { star: on }, on ? "Starred" : "Unstarred");
    rows?.again();
  };
  useKeys("Selected runs", [
    { keys: "c", about: "compare", run: compare },
    { keys: "#", about: "tag", run: () => selected.peek().length > 0 && setDialog("tag") },
    { keys: "Escape", about: "select none", run: clear },
  ]);
  return (
    <div class="selected-bar" aria-live="polite">
      {ids.length === 0 ? (
        <>
          <span class="muted small grow">{grouped ? "Mean ± sample standard deviation over the runs of each group." : <>Select runs to compare, tag or note them. <span class="wide-only"><kbd>x</kbd> selects, <kbd>?</kbd> lists all keys.</span></>}</span>
          <button type="button" class="button" aria-pressed={without(q) !== q} title="Leave away the runs that are evaluations of checkpoints" onClick={() => set({ q: without(q) === q ? and(q, TRAININGS) : without(q) })}>Trainings only</button>
        </>
      ) : (
        <>
          <b>{plural(ids.length, "run")} selected</b>
          <button type="button" class="button primary" disabled={ids.length < 2 || ids.length > MOST_COMPARED} onClick={compare}>Compare</button>
          <button type="button" class="button" onClick={() => void star(true)}>Star</button>
          <button type="button" class="button" onClick={() => void star(false)}>Unstar</button>
          <button type="button" class="button" onClick={() => setDialog("tag")}>Tag</button>
          <button type="button" class="button" onClick={() => void note()}>Note</button>
          <button type="button" class="button plain" onClick={clear}>Select none</button>
        </>
      )}
      {dialog === "tag" && <TagDialog runs={ids} known={[]} onClose={close} />}
      {typeof dialog === "object" && <NoteDialog runs={ids} note={dialog.note} onClose={close} />}
    </div>
  );
}

