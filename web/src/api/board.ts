/** Answers that the board alone asks for. */
import { get, post } from "~/api/client";
import type { Num, Run, RunList, Said } from "~/api/types";
import { these } from "~/text/query";

export interface Table { version: number; total: number; offset: number; renewed: number | null; ids: string[]; columns: Record<string, unknown[]> }
export interface Spread { mean: Num; std: Num; n: number; nan: number; min: Num; max: Num }
export interface Group { keys: Record<string, unknown>; runs: number; states: Record<string, number>; ids: string[]; metrics: Record<string, Spread> }
export interface Groups { version: number; total: number; count: number; groups: Group[] }
export interface KeyList {
  version: number; looked_at: number; fields: string[]; config: { key: string; runs: number; values: number }[];
  metrics: { name: string; runs: number; goal: "min" | "max" }[];
}
export interface Band { runs: string[]; steps: number[]; mean: Num[]; std: Num[]; n: number[] }
export interface Block { kind: "text" | "comparison"; text: string }
export interface Report { id: string; title: string; blocks: Block[]; created: number; saved: number; user: string; name: string }
export interface FileDiff { path: string; change: string; text: string }
export interface CodeDiff { a: string; b: string; note: string; files: FileDiff[] }

export const keysOf = (q: string, signal?: AbortSignal): Promise<KeyList> => get("/keys", { q }, signal);

/** As they are named, in that order; those that are not there are left out. */
export async function runsNamed(ids: readonly string[], signal?: AbortSignal): Promise<Run[]> {
  if (ids.length === 0) return [];
  const { runs } = await get<RunList>("/runs", { q: these(ids), limit: ids.length }, signal);
  const known = new Map(runs.map((run) => [run.id, run]));
  return ids.flatMap((id) => known.get(id) ?? []);
}

export const annotate = (run: string, said: Said): Promise<Run> => post(`/runs/${encodeURIComponent(run)}/annotations`, said);
