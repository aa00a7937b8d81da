/** The picture of this minute, as docs/reference/top.md describes it. */
import type { Num } from "~/api/types";

export interface Bar {
  id: string; msg: string[]; done: number; total: number | null; unit: string | null; state: string; fraction: number | null;
  rate: number | null; eta: number | null; started: number; seen: number;
}
export interface NowRun {
  id: string; name: string; project: string; state: string; stalled: boolean; reason: string; host: string; user: string; attempt: number;
  created: number; started: number | null; ended: number | null; seconds: number; step: number | null; step_seconds: number | null;
  silence: number | null; bars: Bar[]; values: { metric: string; value: Num; step: number }[]; alerts: number; questions: number;
  queue: string; tags: string[];
}
export interface NowTask {
  id: string; title: string; queue: string; state: string; why: string; worker: string; worker_state: string; attempt: number;
  priority: number; seconds: number | null;
}
export interface NowQueue { name: string; path: string; counts: Record<string, number>; slots: number; busy: number; more: number; sure: boolean }
export interface NowWorker {
  name: string; queue: string; host: string; pid: number; state: string; silence: number; slots: number; busy: number; gpus: string[]; tasks: string[];
}
export interface Gpu { index: string; name: string; use: number | null; memory: number | null; memory_total: number | null }
export interface Host {
  name: string; here: boolean; cpus: number | null; cpu: number | null; memory: number | null; memory_total: number | null; gpus: Gpu[];
  processes: { run: string; run_name: string; pid: number; cpu: number | null; memory: number | null }[]; runs: number; workers: number;
}
export interface Question {
  run: string; run_name: string; id: string; prompt: string; choices: string[]; default: string | null; secret: boolean; time: number; until: number | null;
}
export interface Alert { run: string; run_name: string; title: string; text: string; level: string; time: number }
export interface Now {
  time: number; home: string; host: string; counts: Record<string, number>; runs: NowRun[]; queues: NowQueue[]; tasks: NowTask[];
  workers: NowWorker[]; watches: unknown[]; hosts: Host[]; questions: Question[]; alerts: Alert[]; troubles: string[];
}
