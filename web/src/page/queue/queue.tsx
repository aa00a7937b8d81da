import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { Now } from "~/api/now";
import type { QueueStatus, Queues, Task, Tasks, TaskState } from "~/api/queue";
import { useAgain } from "~/live/again";
import { Command, Empty, Notice, Waiting } from "~/part/parts";
import { Hosts } from "~/page/now/hosts";
import "~/page/now/now.css";
import { OrderBar } from "~/page/queue/bar";
import { Column } from "~/page/queue/column";
import { Inspect } from "~/page/queue/inspect";
import { chosenAfter } from "~/page/queue/orders";
import "~/page/queue/queue.css";
import { endsOf } from "~/page/queue/ends";
import { rowsOf, STATES, type Row } from "~/page/queue/rows";
import { asked, set, settle } from "~/route/router";
import { count } from "~/text/format";
import { quoted } from "~/text/shell";

const PAGE = 100;
const OVER: readonly TaskState[] = ["paused", "failed", "done"];
const EVERY_MS = 1000;

export default function QueuePage({ id }: { id: string }): JSX.Element {
  const queues = useFetched("queues", (signal) => get<Queues>("/queues", {}, signal));
  const all = queues.data?.queues ?? [];
  const busiest = [...all].sort((one, other) => waiting(other.counts) - waiting(one.counts))[0]?.queue ?? "";
  const name = id || busiest;
  useAgain(["queues", "runs"], queues.again, 2 * EVERY_MS);
  // Once: the busiest one is another a moment later, and nobody wants it changed under their hands.
  useEffect(() => {
    if (!id && busiest) settle("queue", busiest);
  }, [id, busiest]);
  if (queues.error) return <Notice error={queues.error} />;
  if (!queues.data) return <Waiting height={400} />;
  if (all.length === 0) {
    return (
      <Empty title="There is no queue yet" command="paddock submit -- python train.py --lr 0.1">
        A queue is a directory of tasks; the first submission makes one. <code>paddock worker</code> then runs what is in it.
      </Empty>
    );
  }
  return (
    <div class="queue">
      <div class="page-head">
        <h1>Queue</h1>
        <nav class="choice" aria-label="Queues">
          {all.map((one) => (
            <a key={one.queue} href={`/queue/${encodeURIComponent(one.queue)}`} aria-current={one.queue === name ? "page" : undefined} title={one.path}>
              {one.queue} <span class="count">{count(waiting(one.counts))}</span>
            </a>
          ))}
        </nav>
        <span class="grow" />
        <input class="field" type="search" placeholder="Find a task" aria-label="Find a task" value={asked("find")} onInput={(event) => set({ find: event.currentTarget.value })} />
      </div>
      {all.some((one) => one.queue === name) ? <One key={name} name={name} others={all.map((one) => one.queue).filter((other) => other !== name)} /> : <Empty title={`There is no queue “${name}”`} command={`paddock submit --queue ${quoted(name)} -- python train.py`} />}
    </div>
  );
}

const waiting = (counts: Record<string, number>): number => (counts["queued"] ?? 0) + (counts["checking"] ?? 0) + (counts["active"] ?? 0) + (counts["paused"] ?? 0);

/** One queue: its tasks in columns, orders for those that are chosen, and who works on it. */
function One({ name, others }: { name: string; others: string[] }): JSX.Element {
  const path = `/queues/${encodeURIComponent(name)}`;
  const [limits, setLimits] = useState<Record<string, number>>({});
  const limit = (state: string): number => limits[state] ?? PAGE;
  const status = useFetched(`${name} ${limit("queued")}`, (signal) => get<QueueStatus>(path, { limit: limit("queued") }, signal));
  const counts = status.data?.counts;
  const rest = useFetched(`${name} ${JSON.stringify([counts, limits])}`, async (signal) => {
    if (!counts) return undefined;
    const lists: Task[][] = await Promise.all(OVER.map((state) => counts[state] === 0 ? [] : get<Tasks>(`${path}/tasks`, { state, limit: limit(state), offset: Math.max(0, counts[state] - limit(state)) }, signal).then((found) => found.tasks)));
    const over = lists.flat();
    return { over, ends: await endsOf(over.filter((task) => task.state !== "paused"), signal) };
  });
  const now = useFetched("now", (signal) => get<Now>("/now", {}, signal));
  const again = (): void => {
    status.again();
    rest.again();
    now.again();
  };
  const active = counts?.active ?? 0;
  useAgain(["queues", "runs"], again, EVERY_MS, active > 0 ? 5000 : undefined);
  const find = asked("find").toLowerCase();
  const rows = useMemo(() => (status.data ? rowsOf(status.data, rest.data?.over ?? [], now.data, rest.data?.ends) : undefined), [status.data, rest.data, now.data]);
  const shown = useMemo(() => rows && Object.fromEntries(STATES.map((state) => [state, rows[state].filter((row) => `${row.task.title} ${row.task.id}`.toLowerCase().includes(find))])) as Record<TaskState, Row[]>, [rows, find]);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const last = useRef("");
  const known = useMemo(() => new Map((rows ? STATES.flatMap((state) => rows[state]) : []).map((row) => [row.task.id, row.task] as [string, Task])), [rows]);
  const picked = [...chosen].flatMap((one) => known.get(one) ?? []);
  const choose = (state: TaskState, task: string, shift: boolean): void => {
    setChosen(chosenAfter(chosen, shown![state].map((row) => row.task.id), task, last.current, shift));
    last.current = task;
  };
  const every = (state: TaskState, on: boolean): void => {
    const next = new Set(chosen);
    for (const row of shown![state]) {
      if (on) next.add(row.task.id);
      else next.delete(row.task.id);
    }
    setChosen(next);
  };
  if (status.error && !status.data) return <Notice error={status.error} />;
  if (!counts || !shown) return <Waiting height={400} />;
  const columns = STATES.filter((state) => state !== "checking" || counts.checking > 0);
  const open = columns.find((state) => state === asked("state")) ?? columns.find((state) => counts[state] > 0) ?? "queued";
  const workers = (now.data?.workers ?? []).filter((worker) => worker.queue === name);
  return (
    <>
      <OrderBar queue={name} others={others} chosen={picked} onDone={() => { setChosen(new Set()); again(); }} onClear={() => setChosen(new Set())} />
      {!status.data!.sure && <Notice error="Not all of this queue could be read; what is shown may be less than there is." warn />}
      {status.data!.strangers.length > 0 && <Notice error={`Files that are no tasks lie in it: ${status.data!.strangers.slice(0, 3).join(", ")}`} warn />}
      <div class="narrow-states choice" role="group" aria-label="State">
        {columns.map((state) => <button type="button" key={state} aria-pressed={state === open} onClick={() => set({ state })}>{state} {count(counts[state])}</button>)}
      </div>
      <div class="queue-columns" style={{ "--columns": columns.length }}>
        {columns.map((state) => (
          <Column key={state} state={state} total={counts[state]} rows={shown[state]} chosen={chosen} open={state === open} onChoose={choose} onEvery={every} filtered={find !== ""}
            onMore={() => setLimits({ ...limits, [state === "checking" ? "queued" : state]: limit(state) * 5 })} />
        ))}
      </div>
      {workers.length === 0 && (counts.queued > 0 || counts.checking > 0) && <p class="no-worker"><span class="warn-text">Nobody works on this queue.</span> <Command text={`paddock worker ${quoted(name)}`} /></p>}
      {/* Last, or the columns would push them down. */}
      {now.data && (rest.data ?? rest.error) && <div class="queue-hosts"><Hosts hosts={now.data.hosts} workers={workers} /></div>}
      <Inspect queue={name} why={(task) => STATES.flatMap((state) => rows?.[state] ?? []).find((row) => row.task.id === task)?.why ?? ""} />
    </>
  );
}
