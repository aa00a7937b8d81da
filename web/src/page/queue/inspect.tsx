import type { JSX } from "preact";
import { get } from "~/api/client";
import { useFetched } from "~/api/fetched";
import type { TaskDetail } from "~/api/queue";
import { Dialog } from "~/part/dialog";
import { Copy, Notice, StateMark, Waiting } from "~/part/parts";
import { asked, set } from "~/route/router";
import { cell, clock } from "~/text/format";

/** Said elsewhere, or in the run. */
const HIDDEN = new Set(["command", "facts", "id", "name"]);

/** The task that the address names: its file and its history. */
export function Inspect({ queue, why }: { queue: string; why: (id: string) => string }): JSX.Element | null {
  const id = asked("task");
  return id ? <Shown key={id} queue={queue} id={id} why={why(id)} /> : null;
}

function Shown({ queue, id, why }: { queue: string; id: string; why: string }): JSX.Element {
  const task = useFetched(`${queue} ${id}`, (signal) => get<TaskDetail>(`/queues/${encodeURIComponent(queue)}/tasks/${encodeURIComponent(id)}`, {}, signal));
  const close = (): void => set({ task: undefined });
  const facts = Object.entries(task.data?.facts ?? {}).filter(([name, value]) => !HIDDEN.has(name) && !isNothing(value) && !(name === "workers" && value === 1));
  return (
    <Dialog title={task.data?.task.title ?? id} wide onClose={close} footer={<a class="button primary" href={`/runs/${encodeURIComponent(id)}`}>To the run</a>}>
      {task.error && <Notice error={task.error} />}
      {!task.data && !task.error && <Waiting height={240} />}
      {task.data && (
        <div class="inspect">
          <p class="row"><StateMark state={task.data.task.state} /> <code>{id}</code> <Copy text={id} /></p>
          {why && <p class="muted inspect-why">{why}</p>}
          {task.data.trouble && <Notice error={task.data.trouble} warn />}
          {task.data.command && <pre class="trace" tabIndex={0}>{task.data.command}</pre>}
          <dl class="facts">{facts.map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name} `} class="mono">{shown(name, value)}</dd>])}</dl>
          {task.data.attempts.length > 0 && (
            <div class="scroll">
              <table class="grid-table">
                <thead><tr><th>attempt</th><th>began</th><th>ended</th><th>how</th><th>host</th></tr></thead>
                <tbody>
                  {task.data.attempts.map((one, at) => (
                    <tr key={at}><td>{cell(one["number"] ?? at + 1)}</td><td>{time(one["started"])}</td><td>{time(one["ended"])}</td><td>{how(one)}</td><td>{cell(one["host"] ?? one["worker"] ?? "")}</td></tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </div>
      )}
    </Dialog>
  );
}

function shown(name: string, value: unknown): string {
  if (name === "submitted" && typeof value === "number") return clock(value);
  if (name === "after" && Array.isArray(value)) return value.map((one: { task?: unknown; when?: unknown }) => `${cell(one.task)} (${cell(one.when)})`).join(", ");
  return cell(value);
}

const isNothing = (value: unknown): boolean => value === null || value === "" || value === 0 || value === false || (Array.isArray(value) && value.length === 0) || (typeof value === "object" && value !== null && Object.keys(value).length === 0);

const time = (value: unknown): string => (typeof value === "number" && value > 0 ? clock(value) : cell(value ?? ""));

function how(one: Record<string, unknown>): string {
  const words = ["outcome", "why", "reason", "signal", "code", "exit"].flatMap((name) => {
    if (isNothing(one[name]) || one[name] === undefined) return [];
    return name === "code" || (name === "exit" && typeof one[name] === "number") ? `exit code ${cell(one[name])}` : cell(one[name]);
  });
  return [...new Set(words)].join(", ");
}
