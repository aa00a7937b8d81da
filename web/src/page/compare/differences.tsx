import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { CodeDiff } from "~/api/board";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { Diff, DiffRow, Run } from "~/api/types";
import { Notice, Waiting } from "~/part/parts";
import { differ, GONE, shown } from "~/page/compare/properties";
import type { Change } from "~/page/compare/setting";
import { commandLine } from "~/text/shell";

export type Whole = Diff & { code: CodeDiff[] | null; known_packages: number };
const FIELDS: readonly [title: string, of: (run: Run) => unknown][] = [
  ["commit", (run) => run.commit || GONE], ["snapshot", (run) => run.code.slice(0, 12) || GONE], ["command", (run) => commandLine(run.command) || GONE],
  ["host", (run) => run.host || GONE], ["user", (run) => run.user || GONE], ["state", (run) => run.state],
];

/** Only what differs: config, code, packages. */
export function Differences({ runs, every, onChange }: { runs: readonly Run[]; every: boolean; onChange: Change }): JSX.Element {
  const ids = runs.map((run) => run.id);
  const found = useFetched(JSON.stringify([ids, every]), (signal) => wholeDiff(ids, every, signal));
  if (found.error) return <Notice error={found.error} />;
  if (!found.data) return <Waiting height={320} />;
  return (
    <>
      <label class="row small"><input type="checkbox" checked={every} onChange={(event) => onChange({ every: event.currentTarget.checked })} /> what is the same, too</label>
      <Differed runs={runs} every={every} found={found.data} links />
    </>
  );
}

export const wholeDiff = (ids: readonly string[], every: boolean, signal?: AbortSignal): Promise<Whole> => get<Whole>("/diff", { run: ids, every, packages: true, code: true }, signal);

/** What was found: drawn here, and in reports that leave the server, where there is nothing to be linked to. */
export function Differed({ runs, every, found, links = false }: { runs: readonly Run[]; every: boolean; found: Whole; links?: boolean }): JSX.Element {
  const { config, packages, code } = found;
  const fields = FIELDS.map(([key, of]) => row(key, runs, runs.map(of))).filter((one) => every || !one.equal);
  return (
    <>
      <Section title="Config" rows={config} runs={runs} same="Their configs are the same." links={links} />
      <Section title="Run" rows={fields} runs={runs} same="" links={links} />
      <Section title="Packages" rows={packages ?? []} runs={runs} same={samePackages(packages === null ? 0 : found.known_packages, runs.length)} links={links} />
      <Code diffs={code ?? []} runs={runs} />
    </>
  );
}

/** Those of which nothing is known are not said to be the same. */
function samePackages(known: number, runs: number): string {
  if (known === runs) return "Their packages are the same.";
  return known === 0 ? "Their packages are not known." : `The packages of ${known} of ${runs} are known, and the same.`;
}

function row(key: string, runs: readonly Run[], values: readonly unknown[]): DiffRow {
  const known = runs.flatMap((run, at) => (values[at] === GONE ? [] : [[run.id, values[at]] as const]));
  return { key, values: Object.fromEntries(known), equal: !differ(values) };
}

function Section({ title, rows, runs, same, links }: { title: string; rows: readonly DiffRow[]; runs: readonly Run[]; same: string; links: boolean }): JSX.Element | null {
  if (rows.length === 0) return same ? <p class="muted same">{same}</p> : null;
  return (
    <section class="card diff-card">
      <header><h2>{title}</h2><span class="muted small">{rows.length} {rows.length === 1 ? "key" : "keys"}</span></header>
      <div class="scroll" tabIndex={0} role="region" aria-label={title}>
        <table class="grid-table diff-table">
          <thead><tr><th>{title.toLowerCase()}</th>{runs.map((run) => <th key={run.id}>{links ? <a href={`/runs/${encodeURIComponent(run.id)}`} class="cut">{run.name || run.id}</a> : run.name || run.id}</th>)}</tr></thead>
          <tbody>
            {rows.map((one) => (
              <tr key={one.key} class={one.equal ? "equal" : ""}>
                <th class="mono">{one.key}</th>
                {runs.map((run) => {
                  const value = Object.hasOwn(one.values, run.id) ? one.values[run.id] : GONE;
                  return <td key={run.id} class={value === GONE ? "nothing" : ""}>{shown(value)}</td>;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Code({ diffs, runs }: { diffs: readonly CodeDiff[]; runs: readonly Run[] }): JSX.Element {
  const name = (id: string): string => runs.find((run) => run.id === id)?.name || id;
  if (diffs.length === 0) return <p class="muted same">Their code is the same.</p>;
  return (
    <section class="card diff-card">
      <header><h2>Code</h2><span class="muted small">of {name(diffs[0]!.a)} against the others</span></header>
      {diffs.map((diff) => (
        <div class="pad" key={diff.b}>
          <h3>{name(diff.b)}</h3>
          {diff.note && <p class="muted">{diff.note}</p>}
          {!diff.note && diff.files.length === 0 && <p class="muted">The code is the same.</p>}
          {diff.files.map((file) => <File key={file.path} path={file.path} change={file.change} text={file.text} />)}
        </div>
      ))}
    </section>
  );
}

const LINES = 400;

/** A unified diff, with its signs in colours. */
export function File({ path, change, text }: { path: string; change: string; text: string }): JSX.Element {
  const [whole, setWhole] = useState(false);
  const lines = text.replace(/\n$/, "").split("\n");
  const cut = whole ? lines : lines.slice(0, LINES);
  return (
    <details class="file-diff">
      <summary><code>{path}</code> <span class="muted small">{change}</span></summary>
      <pre class="scroll" tabIndex={0}>
        {cut.map((line, at) => <span key={at} class={kind(line)}>{line}{"\n"}</span>)}
      </pre>
      {lines.length > cut.length && <button type="button" class="button plain" onClick={() => setWhole(true)}>{lines.length - cut.length} more lines</button>}
    </details>
  );
}

function kind(line: string): string {
  if (line.startsWith("+++") || line.startsWith("---")) return "diff-file";
  return line.startsWith("+") ? "diff-plus" : line.startsWith("-") ? "diff-minus" : line.startsWith("@") ? "diff-at" : "diff-same";
}
