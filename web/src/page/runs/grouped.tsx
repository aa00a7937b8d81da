import type { JSX } from "preact";
import type { Group, Groups } from "~/api/board";
import { ApiError, get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import { Notice, StateMark, Waiting } from "~/part/parts";
import { go, set } from "~/route/router";
import { cell, count, meanStd, number } from "~/text/format";
import { isLower } from "~/text/goal";
import { and, equals } from "~/text/query";
import { usePaced } from "~/page/runs/rows";
import { MOST_COMPARED } from "~/page/runs/selection";

/** Runs that agree in some keys as one row: mean ± std of each metric, and n. */
export function GroupTable({ q, by, metrics, goals, stat, sort }: { q: string; by: readonly string[]; metrics: readonly string[]; goals: ReadonlyMap<string, "min" | "max">; stat: string; sort: string }): JSX.Element {
  const found = useFetched(JSON.stringify([q, by, metrics, stat, sort]), (signal) => get<Groups>("/groups", { q, by: [...by], metric: [...metrics], stat, sort }, signal));
  usePaced(found.again);
  if (found.error && !found.data) return found.error.code === "QueryError" ? <></> : <Notice error={found.error as ApiError} />;
  if (!found.data) return <Waiting height={240} />;
  const { groups, count: all } = found.data;
  const names = metrics.length > 0 ? [...new Set(groups.flatMap((group) => Object.keys(group.metrics)))] : [];
  const best = new Map(names.map((name) => [name, bestOf(groups, name, (goals.get(name) ?? (isLower(name) ? "min" : "max")) === "min")]));
  const order = (key: string): void => set({ sort: sort === key ? `-${key}` : sort === `-${key}` ? undefined : key });
  const arrow = (key: string): string => (sort === key ? " ↑" : sort === `-${key}` ? " ↓" : "");
  const sortOf = (key: string): "ascending" | "descending" | "none" => (sort === key ? "ascending" : sort === `-${key}` ? "descending" : "none");
  return (
    <div class="card scroll groups" tabIndex={0} role="region" aria-label="Groups of runs">
      <table class="grid-table">
        <thead>
          <tr>
            {by.map((key) => <th key={key} aria-sort={sortOf(key)}><button type="button" class="head-button" onClick={() => order(key)}>{key.replace(/^config\./, "")}{arrow(key)}</button></th>)}
            <th class="number" aria-sort={sortOf("runs")}><button type="button" class="head-button" onClick={() => order("runs")}>runs{arrow("runs")}</button></th>
            <th class="wide-only">states</th>
            {names.map((name) => <th key={name} class="number" aria-sort={sortOf(name)}><button type="button" class="head-button" onClick={() => order(name)}>{name} {stat}{arrow(name)}</button></th>)}
            <th><span class="sr">actions</span></th>
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={JSON.stringify(group.keys)}>
              {by.map((key) => <td key={key}>{cell(group.keys[key])}</td>)}
              <td class="number">{count(group.runs)}</td>
              <td class="wide-only"><span class="row small">{Object.entries(group.states).map(([state, n]) => <span key={state} class="row-tight"><StateMark state={state} /> {count(n)}</span>)}</span></td>
              {names.map((name) => <Mean key={name} group={group} name={name} best={best.get(name) === group} />)}
              <td class="group-actions">
                <button type="button" class="button plain" onClick={() => set({ q: within(q, by, group), by: undefined, sort: undefined }, true)}>Show runs</button>
                <button type="button" class="button plain" disabled={group.ids.length < 2 || group.runs > MOST_COMPARED} title={group.runs > MOST_COMPARED ? `At most ${MOST_COMPARED} runs can be compared at once.` : undefined} onClick={() => go("compare", "", { run: group.ids })}>Compare</button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {all > groups.length && <p class="muted small pad">The first {count(groups.length)} of {count(all)} groups.</p>}
    </div>
  );
}

function Mean({ group, name, best }: { group: Group; name: string; best: boolean }): JSX.Element {
  const spread = group.metrics[name];
  if (!spread || (spread.n === 0 && spread.nan === 0)) return <td class="number nothing">–</td>;
  const title = `${spread.n} runs${spread.nan ? `, ${spread.nan} NaN` : ""}; min ${number(spread.min)}, max ${number(spread.max)}`;
  return (
    <td class={`number${best ? " best" : ""}`} title={title}>
      {spread.n === 0 ? "NaN" : meanStd(spread.mean, spread.std, spread.n)}
      {spread.n !== group.runs && <span class="muted small"> n={spread.n}</span>}
    </td>
  );
}

function within(q: string, by: readonly string[], group: Group): string {
  return by.reduce((query, key) => and(query, equals(key, group.keys[key] ?? null)), q);
}

function bestOf(groups: readonly Group[], name: string, lower: boolean): Group | undefined {
  let found: Group | undefined;
  for (const group of groups) {
    const mean = group.metrics[name]?.mean;
    const known = found?.metrics[name]?.mean;
    if (typeof mean === "number" && (typeof known !== "number" || (lower ? mean < known : mean > known))) found = group;
  }
  return groups.length > 1 ? found : undefined;
}
