import { signal } from "@preact/signals";
import type { JSX } from "preact";

interface Toast { id: number; text: string; bad: boolean }

const toasts = signal<Toast[]>([]);
let next = 0;

/** Say something for a moment, without moving anything on the page. */
export function say(text: string, bad = false): void {
  const id = (next += 1);
  toasts.value = [...toasts.value.slice(-3), { id, text, bad }];
  setTimeout(() => (toasts.value = toasts.value.filter((toast) => toast.id !== id)), bad ? 8000 : 3000);
}

export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => <div key={toast.id} class={`toast${toast.bad ? " bad" : ""}`}>{toast.text}</div>)}
    </div>
  );
}
