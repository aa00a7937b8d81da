import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, post } from "~/api/client";
import type { Obeyed, Task } from "~/api/queue";
import { Dialog } from "~/part/dialog";
import { Notice } from "~/part/parts";
import { fitting, NAMES, ORDERS, outcome, question, type Order } from "~/page/queue/orders";
import { useKeys } from "~/shell/keys";
import { say } from "~/shell/toast";
import { count, plural } from "~/text/format";

/** Orders for the tasks that are chosen. It is always there, so that nothing moves when one is chosen. */
export function OrderBar({ queue, others, chosen, onDone, onClear }: { queue: string; others: string[]; chosen: Task[]; onDone: () => void; onClear: () => void }): JSX.Element {
  const [asking, setAsking] = useState<Order>();
  const usable = (order: Order): boolean => fitting(order, chosen).length > 0 && (order !== "move" || others.length > 0);
  useKeys("Queue", [
    ...NAMES.map((order) => ({ keys: ORDERS[order].key, about: `${ORDERS[order].title.toLowerCase()} what is chosen`, run: () => usable(order) && setAsking(order) })),
    { keys: "Escape", about: "choose nothing", run: onClear },
  ]);
  return (
    <div class="order-bar" role="toolbar" aria-label="Orders" tabIndex={0}>
      <span class="order-count" role="status">{chosen.length > 0 ? `${plural(chosen.length, "task")} chosen` : <span class="muted">Choose tasks to order something</span>}</span>
      {NAMES.map((order) => (
        <button type="button" key={order} class={`button${ORDERS[order].danger ? " danger" : ""}`} disabled={!usable(order)} title={`${ORDERS[order].title} (${ORDERS[order].key})`} onClick={() => setAsking(order)}>{ORDERS[order].title}</button>
      ))}
      <button type="button" class="button plain" disabled={chosen.length === 0} onClick={onClear}>Clear</button>
      {asking && <Ask queue={queue} others={others} order={asking} chosen={chosen} onClose={() => setAsking(undefined)} onDone={onDone} />}
    </div>
  );
}

/** The confirmation: it names the count, and the tasks as far as there is room. */
function Ask({ queue, others, order, chosen, onClose, onDone }: { queue: string; others: string[]; order: Order; chosen: Task[]; onClose: () => void; onDone: () => void }): JSX.Element {
  const [tasks] = useState(() => fitting(order, chosen));
  const [all] = useState(chosen.length);
  const [priority, setPriority] = useState(String(tasks[0]?.priority ?? 0));
  const [to, setTo] = useState(others[0] ?? "");
  const [error, setError] = useState<ApiError>();
  const [busy, setBusy] = useState(false);
  const { title, left } = question(order, tasks.length, all);
  const go = async (event: Event): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    const more = order === "priority" ? { priority: Number(priority) } : order === "move" ? { to } : {};
    try {
      const found = await post<Obeyed>(`/queues/${encodeURIComponent(queue)}/orders`, { order, tasks: tasks.map((task) => task.id), ...more });
      const said = outcome(order, found);
      say(said.text, said.bad);
      onClose();
      onDone();
    } catch (failed) {
      setBusy(false);
      if (failed instanceof ApiError && failed.status === 401) onClose();
      setError(failed instanceof ApiError ? failed : new ApiError(0, String(failed), "", ""));
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={(event) => void go(event)} class="ask">
        <p>{ORDERS[order].says}</p>
        {left && <p class="warn-text">{left}</p>}
        {order === "priority" && <label class="row">Priority <input class="field" type="number" step="1" min="-999999999" max="999999999" required autofocus value={priority} onInput={(event) => setPriority(event.currentTarget.value)} /></label>}
        {order === "move" && <label class="row">To <select class="field" autofocus value={to} onChange={(event) => setTo(event.currentTarget.value)}>{others.map((one) => <option key={one}>{one}</option>)}</select></label>}
        <ul class="ask-tasks">
          {tasks.slice(0, 8).map((task) => <li key={task.id} class="cut"><span class={`state ${task.state}`}>{task.state}</span> {task.title}</li>)}
          {tasks.length > 8 && <li class="muted">and {count(tasks.length - 8)} more</li>}
        </ul>
        {error && <Notice error={error} />}
        <div class="ask-foot">
          <button type="button" class="button" autofocus={order !== "priority" && order !== "move"} onClick={onClose}>No</button>
          <button class={`button ${ORDERS[order].danger ? "danger" : "primary"}`} disabled={busy}>{ORDERS[order].title} {plural(tasks.length, "task")}</button>
        </div>
      </form>
    </Dialog>
  );
}
