import { signal } from "@preact/signals";
import { Fragment, type JSX } from "preact";
import { Dialog } from "~/part/dialog";
import { known } from "~/shell/keys";

export const sheetOpen = signal(false);
const NAMES: Record<string, string> = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→", " ": "space", Escape: "esc" };

/** What the keys do on this page. */
export function Sheet(): JSX.Element | null {
  if (!sheetOpen.value) return null;
  return (
    <Dialog title="Keys" onClose={() => (sheetOpen.value = false)}>
      {known.value.map((group) => (
        <Fragment key={group.title}>
          <h3 style={{ margin: "4px 0 8px" }}>{group.title}</h3>
          <dl class="keys" style={{ marginBottom: "16px" }}>
            {group.shortcuts.map((one) => (
              <Fragment key={one.keys}>
                <dt>{one.keys === " " ? <kbd>space</kbd> : one.keys.split(" ").map((key) => <kbd key={key}>{NAMES[key] ?? key}</kbd>)}</dt>
                <dd>{one.about}</dd>
              </Fragment>
            ))}
          </dl>
        </Fragment>
      ))}
    </Dialog>
  );
}
