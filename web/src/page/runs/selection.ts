import { signal } from "@preact/signals";

/** The runs that are selected, in the order in which they were; also while another page is shown. */
export const selected = signal<readonly string[]>([]);
export const MOST_COMPARED = 200;

export function toggle(id: string, on = !selected.value.includes(id)): void {
  const without = selected.value.filter((other) => other !== id);
  selected.value = on ? [...without, id] : without;
}

export function add(ids: readonly string[]): void {
  selected.value = [...new Set([...selected.value, ...ids])];
}

export function clear(): void {
  selected.value = [];
}
