/** Queues, tasks and workers, as the API tells of them. */
export type TaskState = "queued" | "checking" | "active" | "done" | "failed" | "paused";
export interface Counted { queue: string; home: string; path: string; counts: Record<TaskState, number>; workers: number }
export interface Queues { queues: Counted[] }
export interface Task { id: string; name: string; queue: string; state: TaskState; title: string; priority: number }
export interface Tasks { total: number; tasks: Task[] }
export interface Running {
  task: Task; worker: string; host: string; worker_state: string; attempt: number; started: number; ranks: Record<string, string>; remark: string;
}
export interface QueueStatus {
  queue: string; path: string; counts: Record<TaskState, number>; running: Running[]; waiting: { task: Task; why: string }[]; more: number;
  strangers: string[]; sure: boolean;
}
export interface TaskDetail { task: Task; command: string; facts: Record<string, unknown>; attempts: Record<string, unknown>[]; trouble: string }
export interface Obeyed {
  done: { id: string; before: string; now: string | null; remark: string }[]; left_out: { id: string; why: string }[]; unconfirmed: string[];
}
export interface Worker {
  worker: string; queue: string; host: string; pid: number; state: string; silence: number; slots: number; gpus: string[];
  tasks: { task: string; title: string; state: string; attempt: number; rank: number | null; kept: boolean }[];
}
export interface Workers { workers: Worker[] }
