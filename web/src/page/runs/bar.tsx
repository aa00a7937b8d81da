import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { KeyList } from "~/api/board";
import type { ApiError } from "~/api/client";
import { Menu } from "~/part/menu";
import { useKeys } from "~/shell/keys";
import { SPARK } from "~/page/runs/columns";
import { plural } from "~/text/format";

const QUIET_MS = 250;

/** The filter, in the language of `paddock ls`; what is wrong with it stands below, where there is always room. */
export function Filter({ q, error, onChange }: { q: string; error: ApiError | undefined; onChange: (q: string) => void }): JSX.Element {
  const [text, setText] = useState(q);
  const box = useRef<HTMLInputElement>(null);
  const timer = useRef(0);
  useEffect(() => {
    if (document.activeElement !== box.current) setText(q);
  }, [q]);
  useKeys("Filter", [{ keys: "/", about: "filter", run: () => box.current?.focus() }]);
  const change = (next: string, now = false): void => {
    setText(next);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => onChange(next.trim()), now ? 0 : QUIET_MS);
  };
  return (
    <div class="filter">
      <input
        ref={box}
        class="field mono"
        type="search"
        spellcheck={false}
        autocomplete="off"
        placeholder="filter: state=finished lr<0.01 tag:base best.acc>0.9   ( / )"
        aria-label="Filter"
        aria-invalid={error ? "true" : "false"}
        aria-describedby="filter-error"
        value={text}
        onInput={(event) => change(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") change(text, true);
          if (event.key === "Escape") box.current?.blur();
        }}
      />
      <p id="filter-error" class="filter-error" role="status">{error && <><span class="bad-text">{error.message.split("\n")[0]}</span> <span class="muted">{error.hint.split("\n")[0]}</span></>}</p>
    </div>
  );
}

interface Option { key: string; title: string; about: string; group: string }

function options(keys: KeyList | undefined, what: "columns" | "groups"): Option[] {
  const config = (keys?.config ?? []).map((one) => ({ key: `config.${one.key}`, title: one.key, about: one.values >= 100 ? "100+ values" : plural(one.values, "value"), group: "config" }));
  const fields = (what === "columns"
    ? ["state", "progress", "project", "group", "created", "started", "ended", "duration", "tags", "notes", "host", "user", "commit", "reason", "attempts", "id"]
    : ["project", "group", "state", "host", "user", "commit", "job_type"]
  ).map((key) => ({ key, title: key, about: "", group: "run" }));
  if (what === "groups") return [...config, ...fields];
  const metrics = (keys?.metrics ?? []).flatMap((one) => [
    { key: `best.${one.name}`, title: `${one.name} best`, about: one.goal, group: "metrics" },
    { key: `last.${one.name}`, title: `${one.name} last`, about: "", group: "metrics" },
    { key: SPARK + one.name, title: `${one.name} curve`, about: "", group: "metrics" },
  ]);
  return [...fields, ...config, ...metrics];
}

/** Choose some of many keys; typing narrows the list. */
export function KeyMenu({ label, what, keys, chosen, onChange, end }: {
  label: string; what: "columns" | "groups"; keys: KeyList | undefined; chosen: readonly string[]; onChange: (next: string[]) => void; end?: boolean;
}): JSX.Element {
  return (
    <Menu label={label} end={end ?? false}>
      {() => <KeyPanel what={what} keys={keys} chosen={chosen} onChange={onChange} />}
    </Menu>
  );
}

function KeyPanel({ what, keys, chosen, onChange }: { what: "columns" | "groups"; keys: KeyList | undefined; chosen: readonly string[]; onChange: (next: string[]) => void }): JSX.Element {
  const [text, setText] = useState("");
  const all = options(keys, what);
  const known = new Set(all.map((one) => one.key));
  const extra = chosen.filter((key) => !known.has(key)).map((key) => ({ key, title: key, about: "", group: "others" }));
  const fitting = [...extra, ...all].filter((one) => one.title.toLowerCase().includes(text.toLowerCase()));
  const shown = [...fitting.filter((one) => chosen.includes(one.key)), ...fitting.filter((one) => !chosen.includes(one.key))].slice(0, 200);
  const toggle = (key: string): void => {
    // One curve at a time: each is fetched for every row that is seen.
    const rest = key.startsWith(SPARK) ? chosen.filter((other) => !other.startsWith(SPARK) || other === key) : chosen;
    onChange(rest.includes(key) ? rest.filter((other) => other !== key) : [...rest, key]);
  };
  return (
    <>
      <input class="field panel-search" placeholder="find a key" aria-label="find a key" autofocus value={text} onInput={(event) => setText(event.currentTarget.value)} />
      {shown.map((one) => (
        <button type="button" class="item" aria-pressed={chosen.includes(one.key)} key={one.key} onClick={() => toggle(one.key)}>
          <span class="tick">{chosen.includes(one.key) ? "✓" : ""}</span>
          <span class="grow cut">{one.title}</span>
          <span class="muted small">{one.about}</span>
        </button>
      ))}
      {shown.length === 0 && <p class="muted small pad">No run has such a key.</p>}
      <div class="panel-foot"><button type="button" class="button plain" onClick={() => onChange([])}>{what === "columns" ? "The usual ones" : "No groups"}</button></div>
    </>
  );
}
