/** What the API answers with, as docs/reference/api.md and /api/v1/openapi.json say. */

/** NaN is null; the infinities are words. */
export type Num = number | "inf" | "-inf" | null;
export type State = "queued" | "paused" | "running" | "finished" | "failed" | "killed" | "lost";

export interface Stat {
  last: Num; last_step: number; min: Num; min_step: number; max: Num; max_step: number; count: number; best: Num;
}

export interface Progress {
  [name: string]: unknown;
}

export interface Run {
  id: string; name: string; project: string; group: string | null; job_type: string | null; tags: string[];
  notes: string; state: State; reason: string; created: number; started: number | null; ended: number | null;
  seen: number; attempts: number; config: Record<string, unknown>; summary: Record<string, unknown>;
  metrics: Record<string, Stat>; info: Record<string, unknown>; goals: Record<string, "min" | "max">;
  axes: Record<string, string>; command: string[]; host: string; user: string; commit: string; code: string;
  parent: string | null; queue: string; star: boolean; bug: boolean; alerts: number; damaged: number; dropped: number;
  path: string; progress: Progress | null;
}

export interface RunList { version: number; total: number; unreadable: string[]; runs: Run[] }
export interface Brief { id: string; name: string; project: string; state: State }

export interface Process {
  name: string; role: string; host: string; pid: number; rank: number | null; attempt: number; state: string;
  started: number; seen: number; damaged: number; dropped: Record<string, number>;
}

export interface Detail {
  run: Run; home: string; facts: Record<string, unknown>; writers: Process[]; children: Brief[];
  records: Record<string, Record<string, unknown>[]>;
}

export interface OneSeries {
  run: string; metric: string; tags: Record<string, unknown>; count: number; steps: number[]; values: Num[];
  times?: number[] | null;
}
export interface SeriesList { series: OneSeries[] }

export interface DiffRow { key: string; values: Record<string, unknown>; equal: boolean }
export interface Diff { runs: Brief[]; config: DiffRow[]; packages: DiffRow[] | null }

export interface Said { tag?: string[]; untag?: string[]; note?: string; star?: boolean; bug?: boolean }

/** The event `runs`: what changed says only what is other than before. */
export interface RunsEvent { version: number; new: Run[]; changed: (Partial<Run> & { id: string })[]; removed: string[] }
