import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

export interface Shortcut {
  /** As KeyboardEvent.key, or two of them: "g r". */
  keys: string;
  about: string;
  run: (event: KeyboardEvent) => void;
}

const groups = signal<{ title: string; shortcuts: readonly Shortcut[] }[]>([]);
export const known = groups;
const SECOND_MS = 1200;
let before = "";
let since = 0;

/** Offer shortcuts while a component is there; the `?` sheet lists them under `title`. They are always those of the
 * last rendering: an effect of it may come later than the next key of somebody who types fast. */
export function useKeys(title: string, shortcuts: readonly Shortcut[]): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const group = { title, get shortcuts() { return latest.current; } };
    groups.value = [...groups.value, group];
    return () => {
      groups.value = groups.value.filter((other) => other !== group);
    };
  }, [title]);
}

export function isTyping(target: EventTarget | null): boolean {
  const element = target as HTMLElement | null;
  return !!element?.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  if (document.querySelector("dialog[open]")) return;
  const two = event.timeStamp - since < SECOND_MS ? `${before} ${event.key}` : "";
  before = event.key;
  since = event.timeStamp;
  // The innermost part of the page comes last and wins.
  const all = groups.value.flatMap((group) => group.shortcuts).reverse();
  const found = all.find((one) => one.keys === two) ?? all.find((one) => one.keys === event.key);
  if (!found) return;
  event.preventDefault();
  before = "";
  found.run(event);
});
