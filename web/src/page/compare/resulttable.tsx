import type { JSX } from "preact";
import type { Run } from "~/api/types";
import { Copy } from "~/part/parts";
import type { Property, Team } from "~/page/compare/properties";
import { apart, brief, shown } from "~/page/compare/properties";
import { column, STATS, type StatName } from "~/page/compare/results";
import type { Change } from "~/page/compare/setting";
import { csv, latex, markdown, type TextTable } from "~/text/export";

/** The table as a value: drawn here, copied as text, and put into reports. */
export function resultTable(runs: readonly Run[], teams: readonly Team[], properties: readonly Property[], metrics: readonly string[], stats: readonly StatName[], folded: boolean): TextTable {
  const telling = apart(properties.filter((one) => one.key.startsWith("config.") && !(folded && one.seed))).slice(0, 8);
  const texts = telling.map((one) => brief(one.values));
  const columns = metrics.flatMap((metric) => stats.map((stat) => ({ title: stats.length > 1 ? `${metric} ${stat}` : metric, cells: column(runs, teams, metric, stat) })));
  const head = [folded ? "runs" : "run", ...telling.map((one) => one.title), ...columns.map((one) => one.title)];
  const rows = teams.map((team, at) => [
    { text: folded ? `n=${team.members.length}` : team.label },
    ...telling.map((one, column) => ({ text: texts[column]![team.members[0]!]!, whole: shown(one.values[team.members[0]!]) })),
    ...columns.map((one) => one.cells[at]!),
  ]);
  const right = [false, ...telling.map((one) => one.values.every((value) => typeof value !== "string")), ...columns.map(() => true)];
  return { head, rows, right };
}

export function Results({ runs, teams, properties, metrics, stats, folded, onChange }: {
  runs: readonly Run[]; teams: readonly Team[]; properties: readonly Property[]; metrics: readonly string[]; stats: readonly StatName[]; folded: boolean; onChange?: Change;
}): JSX.Element {
  const table = resultTable(runs, teams, properties, metrics, stats, folded);
  const flip = (stat: StatName): void => {
    const next = stats.includes(stat) ? stats.filter((other) => other !== stat) : STATS.filter((other) => other === stat || stats.includes(other));
    onChange?.({ stat: next.length > 0 ? next : [...stats] });
  };
  return (
    <section class="card diff-card">
      {onChange && (
        <header>
          <span class="choice" role="group" aria-label="which values">
            {STATS.map((stat) => <button type="button" key={stat} aria-pressed={stats.includes(stat)} onClick={() => flip(stat)}>{stat}</button>)}
          </span>
          <span class="grow" />
          <span class="row">
            <span class="muted small">Copy as</span>
            <Copy label="LaTeX" text={() => latex(table)} />
            <Copy label="Markdown" text={() => markdown(table)} />
            <Copy label="CSV" text={() => csv(table)} />
          </span>
        </header>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label="Results"><ResultGrid table={table} links={folded ? [] : teams.map((team) => team.key)} /></div>
    </section>
  );
}

export function ResultGrid({ table, links = [] }: { table: TextTable; links?: readonly string[] }): JSX.Element {
  return (
    <table class="grid-table results">
      <thead><tr>{table.head.map((title, at) => <th key={at} class={table.right[at] ? "number" : ""}>{title}</th>)}</tr></thead>
      <tbody>
        {table.rows.map((row, number) => (
          <tr key={number}>
            {row.map((cell, at) => (
              <td key={at} class={`${table.right[at] ? "number" : ""}${cell.best ? " best" : ""}`}>
                {at === 0 && links[number] ? <a href={`/runs/${encodeURIComponent(links[number]!)}`}>{cell.text}</a> : cell.text || <span class="nothing">–</span>}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
