import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";

const KEPT = "paddock.theme";
const darker = matchMedia("(prefers-color-scheme: dark)");
const system = signal(darker.matches);
darker.addEventListener("change", (event) => (system.value = event.matches));

export const theme = signal<Theme>(kept());
/** What is shown now; charts are drawn again when it changes. */
export const dark = signal(false);

effect(() => {
  dark.value = theme.value === "dark" || (theme.value === "auto" && system.value);
  document.documentElement.dataset["theme"] = dark.value ? "dark" : "light";
});

export function choose(next: Theme): void {
  theme.value = next;
  try {
    localStorage.setItem(KEPT, next);
  } catch {
    // a browser that keeps nothing
  }
}

function kept(): Theme {
  try {
    const found = localStorage.getItem(KEPT);
    return found === "light" || found === "dark" ? found : "auto";
  } catch {
    return "auto";
  }
}
