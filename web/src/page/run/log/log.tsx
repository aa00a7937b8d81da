import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { useFetched } from "~/api/fetched";
import { get } from "~/api/client";
import type { Outputs } from "~/api/about";
import type { Run } from "~/api/types";
import { Choice, Command, Empty, Notice } from "~/part/parts";
import { Logged } from "~/page/run/log/logged";
import { useReading } from "~/page/run/log/reading";
import { Rows, ROW, type Look } from "~/page/run/log/rows";
import { useSearch } from "~/page/run/log/search";
import { asked, set } from "~/route/router";
import { useKeys } from "~/shell/keys";
import { bytes, count } from "~/text/format";

/** What a run printed, and what its processes logged. */
export function Log({ run }: { run: Run }): JSX.Element {
  const kind = asked("log-of", "printed");
  const outputs = useFetched(`${run.id} ${run.state} ${run.attempts}`, (signal) => get<Outputs>(`/runs/${run.id}/outputs`, {}, signal));
  const files = outputs.data?.outputs ?? [];
  const choice = <Choice label="of which kind" value={kind} options={[["printed", "Printed"], ["logged", "Logged"]]} onChoose={(value) => set({ "log-of": value === "printed" ? undefined : value })} />;
  if (kind === "logged") return <Logged run={run} choice={choice} />;
  if (outputs.error) return <Notice error={outputs.error} />;
  if (outputs.data && files.length === 0) {
    return (
      <>
        <div class="log-bar">{choice}</div>
        <Empty title="Nothing was printed">
          What a script prints is kept when it is run by a worker, by <code>paddock run</code>, or after <code>paddock.init()</code>.<br /><br />
          <Command text={`paddock logs ${run.id}`} />
        </Empty>
      </>
    );
  }
  return <PrintedLog run={run} files={files} choice={choice} />;
}

function PrintedLog({ run, files, choice }: { run: Run; files: Outputs["outputs"]; choice: JSX.Element }): JSX.Element {
  const attempt = Number(asked("attempt")) || undefined;
  const rank = Number(asked("rank")) || 0;
  const live = run.state === "running" && attempt === undefined && rank === 0;
  const reading = useReading(run.id, attempt, rank, live);
  const box = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const [wrap, setWrap] = [asked("wrap") === "1", (on: boolean) => set({ wrap: on })];
  const search = useSearch(run.id, attempt, rank);
  const { held } = reading;
  const atEnd = held.end >= held.size;
  const moving = useRef(false);

  useLayoutEffect(() => {
    if (follows && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [held, follows]);

  const scrolled = (): void => {
    const element = box.current;
    if (!element) return; // browsers tell of scrolling a frame late: another tab may be open by then
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    const bottom = left < 4 * ROW;
    if (bottom !== follows && !moving.current) setFollows(bottom && atEnd);
    if (moving.current) return;
    if (element.scrollTop < 40 * ROW && held.start > 0) void more("before", element);
    else if (left < 40 * ROW && !atEnd) void more("after", element);
  };
  const more = async (where: "before" | "after", element: HTMLElement): Promise<void> => {
    moving.current = true;
    const [top, height] = [element.scrollTop, element.scrollHeight];
    if (where === "before") await reading.before();
    else await reading.after();
    requestAnimationFrame(() => {
      if (where === "before") element.scrollTop = top + element.scrollHeight - height;
      moving.current = false;
    });
  };
  const toEnd = async (): Promise<void> => {
    if (!atEnd) await reading.toEnd();
    setFollows(true);
  };
  const toStart = async (): Promise<void> => {
    setFollows(false);
    moving.current = true;
    if (held.start > 0) await reading.goTo(0);
    requestAnimationFrame(() => {
      if (box.current) box.current.scrollTop = 0;
      moving.current = false;
    });
  };
  const hit = search.hit;
  useEffect(() => {
    if (hit === undefined) return;
    setFollows(false);
    moving.current = true;
    const show = async (): Promise<void> => {
      if (hit < held.start || hit >= held.end) await reading.goTo(hit);
      requestAnimationFrame(() => document.querySelector(".log-box")?.dispatchEvent(new CustomEvent("show-row", { detail: hit })));
      setTimeout(() => (moving.current = false), 60);
    };
    void show();
  }, [hit]);
  const field = useRef<HTMLInputElement>(null);
  useKeys("Log", [
    { keys: "/", about: "search", run: () => field.current?.focus() },
    { keys: "n", about: "next line that has it", run: () => search.step(1) },
    { keys: "N", about: "line before that has it", run: () => search.step(-1) },
    { keys: "G", about: "to the end, and follow", run: () => void toEnd() },
    { keys: "g g", about: "to the beginning", run: () => void toStart() },
  ]);
  const look: Look = { wrap, search: search.text, hit: hit === undefined ? -1 : hit };
  return (
    <section class="log">
      <div class="log-bar">
        {choice}
        {files.length > 1 && <Sources files={files} attempt={attempt} rank={rank} />}
        <input ref={field} class="field grow" type="search" placeholder="Search all of it  /" aria-label="Search" value={search.text}
          onInput={(event) => search.say(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === "Enter") search.step(event.shiftKey ? -1 : 1);
            if (event.key === "Escape") event.currentTarget.blur();
          }} />
        <span class="log-count muted small" role="status">{search.told}</span>
        <button type="button" class="button" disabled={search.hits.length === 0} aria-label="line before that has it" onClick={() => search.step(-1)}>↑</button>
        <button type="button" class="button" disabled={search.hits.length === 0} aria-label="next line that has it" onClick={() => search.step(1)}>↓</button>
        <button type="button" class="button" aria-pressed={wrap} onClick={() => setWrap(!wrap)}>Wrap</button>
        <button type="button" class="button" onClick={() => void toStart()}>Start</button>
        <button type="button" class="button" aria-pressed={follows} onClick={() => void toEnd()}>{live ? "Follow" : "End"}</button>
      </div>
      {reading.error && <Notice error={reading.error} />}
      <Rows box={box} held={held} look={look} waiting={reading.waiting} onScroll={scrolled} label={`what ${run.name} printed`} />
      <p class="muted small log-foot">
        {bytes(held.start)} to {bytes(held.end)} of {bytes(held.size)}, {count(held.lines.length)} lines here{!atEnd && ", more below"}{live && follows ? ", following" : ""}
      </p>
    </section>
  );
}

function Sources({ files, attempt, rank }: { files: Outputs["outputs"]; attempt: number | undefined; rank: number }): JSX.Element {
  const last = Math.max(...files.map((file) => file.attempt));
  const value = `${attempt ?? last}.${rank}`;
  return (
    <select class="field" aria-label="attempt and rank" value={value} onChange={(event) => {
      const [one, other] = event.currentTarget.value.split(".").map(Number);
      set({ attempt: one === last ? undefined : one, rank: other || undefined });
    }}>
      {files.map((file) => <option key={`${file.attempt}.${file.rank}`} value={`${file.attempt}.${file.rank}`}>attempt {file.attempt}{file.rank ? `, rank ${file.rank}` : ""}, {bytes(file.size)}</option>)}
    </select>
  );
}
