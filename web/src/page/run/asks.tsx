/** What a run waits for: a place in a queue, or somebody's answer. */
import type { JSX } from "preact";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { Question } from "~/api/now";
import type { Run } from "~/api/types";
import { useAgain } from "~/live/again";
import { Questions } from "~/page/now/questions";

interface Waiting { waiting: { task: { id: string }; why: string }[] }
type Asked = Omit<Question, "run_name" | "time"> & { asked: number };

/** Why the queue has not begun it; "" when it waits for nothing. */
export function useWhy(run: Run | undefined): string {
  const [id, queue] = [run?.id, run?.queue];
  const found = useFetched(`${queue} ${id}`, async (signal) => (queue ? get<Waiting>(`/queues/${encodeURIComponent(queue)}`, {}, signal) : undefined));
  useAgain(queue ? ["queues"] : undefined, found.again);
  return found.data?.waiting.find((one) => one.task.id === id)?.why ?? "";
}

export function Asks({ run }: { run: Run }): JSX.Element {
  const live = run.state === "running";
  const found = useFetched(`${run.id} ${live}`, async (signal) => (live ? (await get<{ questions: Asked[] }>("/questions", {}, signal)).questions : []));
  useAgain(live ? ["questions"] : undefined, found.again);
  const own = (found.data ?? []).filter((one) => one.run === run.id).map((one) => ({ ...one, run_name: run.name, time: one.asked }));
  return <div class="run-asks"><Questions asked={own} now={Date.now() / 1000} /></div>;
}
