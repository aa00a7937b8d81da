import type { JSX } from "preact";
import { errorOf, useFetched } from "~/api/fetched";
import type { Picture } from "~/page/run/about/pictures";
import { useShown } from "~/page/run/about/shown";
import { Notice, Waiting } from "~/part/parts";
import { cell, count, plural } from "~/text/format";

const MOST_ROWS = 200;

interface Table { columns: string[]; data: unknown[][] }

/** The tables of one name: the last one, and a slider over the steps. */
export function TableStrip({ name, tables, where }: { name: string; tables: readonly Picture[]; where: (id: string) => string }): JSX.Element {
  const [index, show] = useShown(tables);
  const { step, file } = tables[index]!;
  const found = useFetched(file.id, (signal) => read(where(file.id), signal));
  const table = found.data;
  return (
    <section class="card table-strip">
      <header>
        <h2 class="grow cut">{name}</h2>
        {table && <span class="muted small">{plural(table.data.length, "row")}</span>}
        <span class="muted small">step {cell(step)}</span>
      </header>
      {found.error && <Notice error={found.error} />}
      {!table && !found.error && <Waiting height={120} />}
      {table && (
        <div class="scroll" tabIndex={0} role="region" aria-label={name}>
          <table class="grid-table">
            <thead><tr>{table.columns.map((column, number) => <th key={number} class={isNumber(table, number) ? "number" : ""}>{column}</th>)}</tr></thead>
            <tbody>
              {table.data.slice(0, MOST_ROWS).map((row, line) => (
                <tr key={line}>{table.columns.map((_, number) => <td key={number} class={isNumber(table, number) ? "number" : ""}>{cell(row[number])}</td>)}</tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {table && table.data.length > MOST_ROWS && <p class="muted small pad">The first {MOST_ROWS} of {count(table.data.length)} rows; the file has all of them.</p>}
      {tables.length > 1 && <input type="range" min={0} max={tables.length - 1} value={index} aria-label={`${name}: which of ${tables.length}`} onInput={(event) => show(Number(event.currentTarget.value))} />}
    </section>
  );
}

const isNumber = (table: Table, column: number): boolean => typeof table.data[0]?.[column] === "number";

/** A file of the run: anything may be in it. */
async function read(path: string, signal: AbortSignal): Promise<Table> {
  const answer = await fetch(path, { signal, credentials: "same-origin" });
  const found = (await answer.json()) as Partial<Table>;
  if (!answer.ok || !Array.isArray(found.columns) || !Array.isArray(found.data)) throw errorOf("This file is no table.");
  return { columns: found.columns.map(String), data: found.data.filter(Array.isArray) };
}
