/** What the API says of one run beyond its row: code, relations, evaluations, output, files, usage. */
import type { Brief, Num } from "~/api/types";

export interface CodeFile { path: string; size: number | null; executable: boolean; link: string | null }
export interface Code {
  commit: string; branch: string; remote: string; dirty: boolean; diff: boolean; untracked: string[]; root: string;
  script: string; snapshot: string; files: CodeFile[]; more: boolean; trouble: string;
}
export interface CodeText { path: string; size: number; text: string | null; cut: boolean }

export interface Tied { id: string; name: string; queue: string; state: string; when: string }
export interface Relations { parent: Brief | null; children: Brief[]; queue: string; after: Tied[]; dependents: Tied[]; more: boolean }

export interface Evaluated {
  checkpoint: string; step: number | null; evaluator: string; state: string; reason: string; values: Record<string, unknown>;
  found: number | null; started: number | null; ended: number | null; waited: number | null; took: number | null;
  task: string; run: string | null;
}
export interface Evaluations { evaluations: Evaluated[]; watches: string[]; best: string[] }

export interface Outputs { outputs: { attempt: number; rank: number; size: number }[] }
export interface Printed { attempt: number; rank: number; size: number; start: number; end: number; lines: string[] }
export interface Searched { attempt: number; rank: number; hits: { start: number; line: string }[]; next: number | null }
export interface LogLine {
  t: number; level: number; logger: string; text: string; where: string; trace: string; writer: string; host: string; rank: number | null;
}
export interface LogLines { lines: LogLine[]; start: string; end: string; more: boolean; damaged: number }

export interface Kept { id: string; path: string; size: number; modified: number }
export interface Files { files: Kept[]; more: boolean }

export interface Used {
  label: string; who: Record<string, unknown>; began: number; ended: number; mean: Record<string, number>;
  most: Record<string, number>; series: Record<string, Num[]>;
}
export interface Usage {
  begin: number; width: number; damaged: number; checkpoints: { time: number; text: string; times: number }[]; processes: Used[];
}
