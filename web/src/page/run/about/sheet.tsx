/** Everything that is known about a run and is no curve. */
import type { ComponentChildren, JSX } from "preact";
import type { Relations } from "~/api/about";
import type { Detail } from "~/api/types";
import { Copy, StateMark } from "~/part/parts";
import { attempts, type Attempt } from "~/page/run/about/attempts";
import { flat } from "~/page/run/about/flat";
import { asked, set } from "~/route/router";
import { bytes, cell, clock, count, duration, last as lastOf, number, plural } from "~/text/format";
import { commandLine } from "~/text/shell";

export function Sheet({ detail, relations }: { detail: Detail; relations: Relations | undefined }): JSX.Element {
  const { run, facts } = detail;
  const environment = mapping(facts["environment"]);
  return (
    <div class="sheet">
      <div class="sheet-column">
        <Part title="Config" tools={<Copy label="Copy as JSON" text={() => JSON.stringify(run.config, null, 2)} />}>
          <Values value={run.config} find="config-find" empty="The run has no config." />
        </Part>
        <Part title="Results">
          <Results detail={detail} />
        </Part>
      </div>
      <div class="sheet-column">
        <Part title="Run"><Facts detail={detail} /></Part>
        <Part title={detail.run.attempts > 1 ? "Attempts" : "Attempt"}><Attempts detail={detail} /></Part>
        <Part title="Relations"><Family relations={relations} detail={detail} /></Part>
        {detail.records["alert"]?.length ? <Part title="Alerts"><Alerts records={detail.records["alert"]} /></Part> : null}
        {detail.records["runtime"]?.length ? <Part title="Timings"><Timings records={detail.records["runtime"]} /></Part> : null}
        <Part title="Environment"><Environment environment={environment} facts={facts} /></Part>
      </div>
    </div>
  );
}

function Part({ title, tools, children }: { title: string; tools?: ComponentChildren; children: ComponentChildren }): JSX.Element {
  return (
    <section class="card">
      <header><h2 class="grow">{title}</h2>{tools}</header>
      <div class="card-body">{children}</div>
    </section>
  );
}

/** Nested values, one a row. */
function Values({ value, find, empty }: { value: unknown; find?: string; empty: string }): JSX.Element {
  const wanted = find ? asked(find).toLowerCase() : "";
  const all = flat(value);
  const rows = all.filter((leaf) => `${leaf.key} ${cell(leaf.value)}`.toLowerCase().includes(wanted));
  if (all.length === 0) return <p class="muted">{empty}</p>;
  return (
    <>
      {find && all.length > 12 && <input class="field find" type="search" placeholder={`Find in ${count(all.length)} values`} aria-label="Find a value" value={asked(find)} onInput={(event) => set({ [find]: event.currentTarget.value })} />}
      <dl class="facts">
        {rows.map((leaf) => [<dt key={leaf.key}>{leaf.key}</dt>, <dd key={`${leaf.key} `} class="mono">{cell(leaf.value)}</dd>])}
      </dl>
      {rows.length === 0 && <p class="muted">None of them has this.</p>}
    </>
  );
}

function Results({ detail: { run } }: { detail: Detail }): JSX.Element {
  const metrics = Object.entries(run.metrics);
  const summary = flat(run.summary);
  if (metrics.length + summary.length === 0) return <p class="muted">There are none yet.</p>;
  return (
    <>
      {summary.length > 0 && <dl class="facts">{summary.map((leaf) => [<dt key={leaf.key}>{leaf.key}</dt>, <dd key={`${leaf.key} `} class="mono">{cell(leaf.value)}</dd>])}</dl>}
      {metrics.length > 0 && (
        <div class="scroll tall" tabIndex={0} role="region" aria-label="metrics">
          <table class="grid-table">
            <thead><tr><th>metric</th><th class="number">last</th><th class="number">min</th><th class="number">max</th><th class="number">points</th></tr></thead>
            <tbody>
              {metrics.map(([name, stat]) => (
                <tr key={name}>
                  <td>{name}</td><td class="number">{lastOf(stat)}</td><td class="number" title={`step ${stat.min_step}`}>{number(stat.min)}</td>
                  <td class="number" title={`step ${stat.max_step}`}>{number(stat.max)}</td><td class="number">{count(stat.count)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  );
}

function Facts({ detail: { run, home, facts } }: { detail: Detail }): JSX.Element {
  const rows: [string, ComponentChildren][] = [
    ["id", <span class="mono">{run.id}</span>],
    ["project", run.project],
    ["group", run.group],
    ["user", run.user],
    ["host", run.host],
    ["command", run.command.length > 0 && <span class="mono">{commandLine(run.command)}</span>],
    ["directory", Boolean(facts["cwd"]) && <span class="mono">{String(facts["cwd"])}</span>],
    ["created", clock(run.created)],
    ["started", run.started && clock(run.started)],
    ["ended", run.ended && clock(run.ended)],
    ["took", run.started && duration((run.ended ?? run.seen) - run.started)],
    ["queue", run.queue && <a href={`/queue/${encodeURIComponent(run.queue)}`}>{run.queue}</a>],
    ["record", <span class="mono">{run.path || home}</span>],
    ["damaged", run.damaged > 0 && <span class="bad-text">{plural(run.damaged, "line")} of its journals</span>],
    ["dropped", run.dropped > 0 && <span class="warn-text">{plural(run.dropped, "value")} could not be recorded</span>],
  ];
  return <dl class="facts">{rows.filter(([, value]) => value).map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} `}>{value}</dd>])}</dl>;
}

function Attempts({ detail }: { detail: Detail }): JSX.Element {
  const all = attempts(detail.writers, detail.records["end"] ?? [], detail.records["exit"] ?? []);
  if (all.length === 0) return <p class="muted">It has not begun.</p>;
  return <ol class="attempts">{[...all].reverse().map((one) => <AttemptRow key={one.number} one={one} />)}</ol>;
}

function AttemptRow({ one }: { one: Attempt }): JSX.Element {
  const took = one.seconds ?? (one.ended === null ? null : one.ended - one.started);
  return (
    <li>
      <div class="row"><b>{one.number}</b> <span class={one.ending === "finished" || one.ending === "" ? "" : "bad-text"}>{one.ending || "running"}</span></div>
      <div class="muted small">
        {clock(one.started)}{took !== null && `, ${duration(took)}`}, on {one.host || "?"}{one.memory !== null && `, at most ${bytes(one.memory)}`}
      </div>
      {one.trace && <details><summary>traceback</summary><pre class="trace" tabIndex={0}>{one.trace}</pre></details>}
      <details>
        <summary>{plural(one.processes.length, "process", "processes")}</summary>
        <table class="grid-table small">
          <tbody>
            {one.processes.map((process) => (
              <tr key={process.name}><td>{process.role}{process.rank !== null && ` ${process.rank}`}</td><td>{process.host}</td><td class="number">{process.pid}</td><td>{process.state}</td></tr>
            ))}
          </tbody>
        </table>
      </details>
    </li>
  );
}

function Family({ relations, detail }: { relations: Relations | undefined; detail: Detail }): JSX.Element {
  if (!relations) return <p class="muted">…</p>;
  const groups: [string, JSX.Element[]][] = [
    ["parent", relations.parent ? [<Kin key="p" {...relations.parent} />] : []],
    ["children", relations.children.map((one) => <Kin key={one.id} {...one} />)],
    ["waits for", relations.after.map((one) => <Kin key={one.id} {...one} note={one.when === "success" ? "" : `on ${one.when}`} />)],
    ["dependents", relations.dependents.map((one) => <Kin key={one.id} {...one} note={one.when === "success" ? "" : `on ${one.when}`} />)],
    ["uses", (detail.records["use"] ?? []).map((one, at) => <span key={at}>{cell(one["name"])} v{cell(one["version"])} of <a href={`/runs/${encodeURIComponent(String(one["run"]))}`}>{cell(one["run"])}</a></span>)],
    ["artifacts", (detail.records["artifact"] ?? []).map((one, at) => <span key={at}>{cell(one["name"])} v{cell(one["version"])} <span class="muted">{cell(one["type"])}</span></span>)],
  ];
  const shown = groups.filter(([, all]) => all.length > 0);
  if (shown.length === 0) return <p class="muted">No parent, no children, and nothing waits for it.</p>;
  return <dl class="facts">{shown.map(([name, all]) => [<dt key={name}>{name}</dt>, <dd key={`${name} `} class="kin">{all}</dd>])}</dl>;
}

function Kin({ id, name, state, note = "" }: { id: string; name: string; state: string; note?: string }): JSX.Element {
  return <span class="row"><StateMark state={state} /> <a href={`/runs/${encodeURIComponent(id)}`}>{name || id}</a> {note && <span class="muted small">{note}</span>}</span>;
}

function Alerts({ records }: { records: Record<string, unknown>[] }): JSX.Element {
  return (
    <ul class="attempts">
      {[...records].reverse().slice(0, 100).map((one, at) => (
        <li key={at}><b class={one["level"] === "error" ? "bad-text" : "warn-text"}>{cell(one["title"])}</b> {cell(one["text"] ?? "")} <span class="muted small">{typeof one["t"] === "number" ? clock(one["t"]) : ""}</span></li>
      ))}
    </ul>
  );
}

function Timings({ records }: { records: Record<string, unknown>[] }): JSX.Element {
  const last = new Map(records.map((one) => [String(one["event"]), one]));
  return (
    <table class="grid-table">
      <thead><tr><th>event</th><th class="number">mean</th><th class="number">std</th><th class="number">times</th></tr></thead>
      <tbody>
        {[...last].map(([event, one]) => (
          <tr key={event}><td>{event}</td><td class="number">{duration(Number(one["mean"]))}</td><td class="number">{duration(Number(one["std"]))}</td><td class="number">{cell(one["instances"])}</td></tr>
        ))}
      </tbody>
    </table>
  );
}

function Environment({ environment, facts }: { environment: Record<string, unknown>; facts: Record<string, unknown> }): JSX.Element {
  const packages = mapping(environment["packages"]);
  const variables = mapping(environment["variables"]);
  const own = { python: environment["python"], host: facts["host"], launch: facts["launch"], executable: facts["executable"] };
  if (Object.keys(packages).length === 0 && Object.values(own).every((value) => value === undefined || value === null)) return <p class="muted">It is recorded where the run begins.</p>;
  return (
    <>
      <Values value={own} empty="" />
      {Object.keys(packages).length > 0 && <details><summary>{plural(Object.keys(packages).length, "package")}</summary><Values value={packages} find="package" empty="" /></details>}
      {Object.keys(variables).length > 0 && <details><summary>{plural(Object.keys(variables).length, "variable")}</summary><Values value={variables} find="variable" empty="" /></details>}
    </>
  );
}

function mapping(value: unknown): Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
