import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Evaluated } from "~/api/about";
import type { Best } from "~/api/watch";
import { within } from "~/page/run/chart/scores";
import type { Row } from "~/page/watches/scores";
import { clock, count, duration, number } from "~/text/format";

const PAGE = 200;

/** Every checkpoint with what each evaluator said of it, or why it said nothing. */
export function Checkpoints({ rows, directory, names: trainings, evaluators, best }: { rows: readonly Row[]; directory: string; names: ReadonlyMap<string, string>; evaluators: readonly string[]; best: Best | null }): JSX.Element {
  const [most, setMost] = useState(PAGE);
  const names = [...new Set([...evaluators, ...rows.flatMap((row) => Object.keys(row.evaluations))])];
  if (rows.length === 0) return <p class="muted none">None of them is like this.</p>;
  return (
    <div class="card scroll" tabIndex={0} role="region" aria-label="checkpoints">
      <table class="grid-table checkpoints">
        <thead><tr><th>checkpoint</th><th class="number">step</th>{names.map((name) => <th key={name}>{name}</th>)}<th class="wide-only">training</th></tr></thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <tr key={row.checkpoint} class={best?.checkpoint === row.checkpoint ? "best" : undefined}>
              <td title={row.checkpoint}>{within(directory, row.checkpoint)}{best?.checkpoint === row.checkpoint && <span class="tag good-text">best</span>}{row.found !== null && <div class="muted small">{clock(row.found)}</div>}</td>
              <td class="number">{row.step ?? ""}</td>
              {names.map((name) => <td key={name}>{row.evaluations[name] && <Verdict one={row.evaluations[name]!} />}</td>)}
              <td class="wide-only">{row.run && <a href={`/runs/${encodeURIComponent(row.run)}`}>{trainings.get(row.run) ?? row.run}</a>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && <p class="none"><button type="button" class="button" onClick={() => setMost(most + PAGE)}>{count(rows.length - most)} more</button></p>}
    </div>
  );
}

function Verdict({ one }: { one: Evaluated }): JSX.Element {
  const values = Object.entries(one.values).filter(([, value]) => typeof value === "number" || typeof value === "string");
  return (
    <div class="verdict">
      {one.state === "done"
        ? <span>{values.slice(0, 4).map(([name, value], at) => <span key={name}>{at > 0 && ", "}{name} <b>{number(value)}</b></span>)}{values.length > 4 && <span class="muted"> and {values.length - 4} more</span>}</span>
        : <span class={`state eval-${one.state}`}>{one.state}</span>}
      {one.reason && one.state !== "done" && <span class={one.state === "failed" ? "bad-text small reason" : "muted small reason"} title={one.reason}>{one.reason}</span>}
      {one.took !== null && <span class="muted small">took {duration(one.took)}{one.waited !== null && one.waited >= 1 && `, waited ${duration(one.waited)}`}</span>}
      {one.task && (one.state === "failed" || one.state === "running") && <a class="small" href={`/runs/${encodeURIComponent(one.task)}?tab=log`}>its log</a>}
    </div>
  );
}
