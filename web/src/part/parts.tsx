/** The small parts that every page is made of. */
import type { ComponentChildren, JSX } from "preact";
import { useState } from "preact/hooks";
import type { ApiError } from "~/api/client";
import { say } from "~/shell/toast";
import { shareOf } from "~/text/format";

export function StateMark({ state }: { state: string }): JSX.Element {
  return <span class={`state ${state}`}>{state}</span>;
}

/** A bar and its share; a share that is not known has no bar. */
export function Meter({ share, state = "" }: { share: number | null | undefined; state?: string }): JSX.Element | null {
  if (share === null || share === undefined || !Number.isFinite(share)) return null;
  const shown = shareOf(share, state);
  const percent = Math.floor(shown * 100);
  return (
    <span class={`meter ${state}`} role="progressbar" aria-label="progress" aria-valuenow={percent} aria-valuemin={0} aria-valuemax={100}>
      <i><b style={{ transform: `scaleX(${shown})` }} /></i>
      <span>{percent} %</span>
    </span>
  );
}

/** An empty page teaches: what belongs here, and the one command that puts it there. */
export function Empty({ title, command, children }: { title: string; command?: string; children?: ComponentChildren }): JSX.Element {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children && <p>{children}</p>}
      {command && <Command text={command} />}
    </div>
  );
}

export function Command({ text }: { text: string }): JSX.Element {
  return (
    <span class="command">
      <code>{text}</code>
      <Copy text={text} />
    </span>
  );
}

export function Copy({ text, label = "Copy" }: { text: string | (() => string); label?: string }): JSX.Element {
  const [done, setDone] = useState(false);
  const copy = async (): Promise<void> => {
    if (!(await toClipboard(typeof text === "string" ? text : text()))) {
      say("The browser did not let us copy.", true);
      return;
    }
    setDone(true);
    setTimeout(() => setDone(false), 1200);
  };
  return <button type="button" class="button" onClick={() => void copy()}>{done ? "Copied" : label}</button>;
}

/** Browsers offer a clipboard only to pages from this machine or over TLS; elsewhere the old way is tried. */
async function toClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

export function Notice({ error, warn }: { error: ApiError | string; warn?: boolean }): JSX.Element {
  const text = typeof error === "string" ? error : error.message;
  const hint = typeof error === "string" ? "" : error.hint;
  return (
    <div class={`notice${warn ? " warn" : ""}`} role="alert">
      <span>{text} {hint && <span class="muted">{hint}</span>}</span>
    </div>
  );
}

/** The place of something that is on its way. */
export function Waiting({ height, width = "100%" }: { height: number; width?: string }): JSX.Element {
  return <span class="waiting" style={{ height: `${height}px`, width }} aria-hidden="true" />;
}

export function Choice<T extends string>({ label, value, options, onChoose }: {
  label: string; value: T; options: readonly (T | readonly [T, string])[]; onChoose: (value: T) => void;
}): JSX.Element {
  return (
    <span class="choice" role="group" aria-label={label}>
      {options.map((option) => {
        const [name, text] = typeof option === "string" ? [option, option] : option;
        return <button type="button" aria-pressed={name === value} onClick={() => onChoose(name)}>{text}</button>;
      })}
    </span>
  );
}
