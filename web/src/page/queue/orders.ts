/** What can be ordered of which tasks, and how it is said. Pure. */
import type { Obeyed, TaskState } from "~/api/queue";
import { plural } from "~/text/format";

export type Order = "pause" | "resume" | "cancel" | "retry" | "rerun" | "priority" | "move";

interface About {
  title: string;
  key: string;
  from: readonly TaskState[];
  /** What happens, for the one who is asked whether it shall. */
  says: string;
  danger?: boolean;
}

export const ORDERS: Record<Order, About> = {
  pause: { title: "Pause", key: "p", from: ["queued", "checking", "active"], says: "What runs is stopped where it is; what waits is held." },
  resume: { title: "Resume", key: "u", from: ["paused"], says: "They go on where they were." },
  cancel: { title: "Cancel", key: "c", from: ["queued", "checking", "active", "paused"], says: "What runs is ended with all its processes, and they leave the queue. What was recorded stays.", danger: true },
  retry: { title: "Retry", key: "y", from: ["failed"], says: "They run again as a new attempt; the earlier ones are kept." },
  rerun: { title: "Rerun", key: "e", from: ["done"], says: "They run again as a new attempt, though they succeeded." },
  priority: { title: "Priority", key: "i", from: ["queued", "paused"], says: "Greater numbers go first; usual is 0." },
  move: { title: "Move", key: "m", from: ["queued", "paused", "failed", "done"], says: "They wait in the other queue, and workers of that one run them." },
};
export const NAMES = Object.keys(ORDERS) as Order[];

/** The chosen tasks that an order makes sense for. */
export function fitting<T extends { state: TaskState }>(order: Order, tasks: readonly T[]): T[] {
  return tasks.filter((task) => ORDERS[order].from.includes(task.state));
}

/** The question that is asked before: it names the count, and what is left out. */
export function question(order: Order, fit: number, chosen: number): { title: string; left: string } {
  const left = chosen - fit;
  return {
    title: `${ORDERS[order].title}${order === "priority" ? " of" : ""} ${plural(fit, "task")}?`,
    left: left > 0 ? `${plural(left, "other that is", "others that are")} chosen cannot be: ${ORDERS[order].title.toLowerCase()} is for what is ${either(ORDERS[order].from)}.` : "",
  };
}

function either(words: readonly string[]): string {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}

const DONE: Record<Order, string> = { pause: "paused", resume: "resumed", cancel: "cancelled", retry: "queued again", rerun: "queued again", priority: "given this priority", move: "moved" };

/** What came of it, in a sentence or two. */
export function outcome(order: Order, obeyed: Obeyed): { text: string; bad: boolean } {
  const parts = [`${plural(obeyed.done.length, "task")} ${DONE[order]}.`];
  if (obeyed.left_out.length > 0) parts.push(`${obeyed.left_out.length} left out: ${obeyed.left_out[0]!.why}`);
  if (obeyed.unconfirmed.length > 0) parts.push(`Of ${obeyed.unconfirmed.length} the worker has not said yet that it is over.`);
  return { text: parts.join(" "), bad: obeyed.done.length === 0 };
}

/** A click with shift chooses all between the last one and this one. */
export function chosenAfter(before: ReadonlySet<string>, order: readonly string[], id: string, last: string, shift: boolean): Set<string> {
  const next = new Set(before);
  const [from, to] = [order.indexOf(last), order.indexOf(id)];
  if (shift && from >= 0 && to >= 0) {
    for (const one of order.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(one);
    return next;
  }
  if (next.has(id)) next.delete(id);
  else next.add(id);
  return next;
}
