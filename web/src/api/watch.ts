/** Watches, as the API tells of them. */
import type { Evaluated } from "~/api/about";
import type { Num } from "~/api/types";

export interface Watcher { watcher: string; host: string; pid: number; state: string; silence: number; here: boolean; detached: boolean; log: string | null; started: number | null }
export interface Best { metric: string; value: Num; checkpoint: string; step: number | null }
export interface Watched {
  watch: string; directory: string; evaluators: string[]; queues: string[]; watched: boolean; watchers: Watcher[]; counts: Record<string, number>;
  last: Evaluated | null; best: Best | null;
}
export interface WatchList { watches: Watched[] }
export interface WatchDetail extends Watched { total: number; evaluations: Evaluated[] }
