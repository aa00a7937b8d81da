/** How the tasks that are over ended: their runs know. */
import type { Table } from "~/api/board";
import { get } from "~/api/client";
import type { Task } from "~/api/queue";
import type { End } from "~/page/queue/rows";
import { these } from "~/text/query";

const AT_ONCE = 200; // ids in one question

/** Those that have no run, or whose home this server does not know, are left out. */
export async function endsOf(tasks: readonly Task[], signal: AbortSignal): Promise<Map<string, End>> {
  const parts: string[][] = [];
  for (let at = 0; at < tasks.length; at += AT_ONCE) parts.push(tasks.slice(at, at + AT_ONCE).map((task) => task.id));
  const tables = await Promise.all(parts.map((ids) => get<Table>("/table", { q: these(ids), column: "reason,duration,ended", limit: ids.length }, signal)));
  return new Map(tables.flatMap(({ ids, columns }) => ids.map((id, at): [string, End] => {
    const [reason, took, ended] = ["reason", "duration", "ended"].map((name) => columns[name]?.[at]);
    return [id, { reason: String(reason ?? ""), took: typeof took === "number" ? took : null, ended: typeof ended === "number" ? ended : null }];
  })));
}
