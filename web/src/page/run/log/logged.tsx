import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Asking } from "~/api/asking";
import { ApiError, get, isAbort } from "~/api/client";
import type { LogLine, LogLines } from "~/api/about";
import type { Run } from "~/api/types";
import { useLive } from "~/live/live";
import { Command, Empty, Notice, Waiting } from "~/part/parts";
import { asked, set } from "~/route/router";
import { clock } from "~/text/format";

const LEVELS = ["all", "INFO", "WARNING", "ERROR"] as const;
const NUMBERS: Record<string, number> = { all: 0, INFO: 20, WARNING: 30, ERROR: 40 };
const PAGE = 300;
const MOST = 5000;

/** What the processes of a run gave to `logging`, in the order of time. */
export function Logged({ run, choice }: { run: Run; choice: JSX.Element }): JSX.Element {
  const level = asked("level", "all");
  const match = asked("match");
  const [lines, setLines] = useState<LogLine[]>();
  const [start, setStart] = useState("");
  const [more, setMore] = useState(false);
  const [error, setError] = useState<ApiError>();
  const path = `/runs/${encodeURIComponent(run.id)}/lines`;
  const filter = { level: String(NUMBERS[level] ?? 0), match, limit: PAGE };
  const box = useRef<HTMLDivElement>(null);
  const failed = (said: unknown): void => {
    if (!isAbort(said)) setError(said instanceof ApiError ? said : new ApiError(0, String(said), "", ""));
  };
  const asking = useRef<Asking<LogLines>>(undefined);
  useEffect(() => {
    // The last page, and then what is behind it: whatever was heard or missed meanwhile, nothing is left out.
    let end: string | undefined;
    const told = (page: LogLines): void => {
      const element = box.current;
      const atEnd = !element || element.scrollHeight - element.scrollTop - element.clientHeight < 60;
      const first = end === undefined;
      end = page.end;
      setError(undefined);
      if (first) {
        setLines(page.lines);
        setStart(page.start);
        setMore(page.more);
      } else {
        if (page.lines.length > 0) setLines((before) => [...(before ?? []), ...page.lines].slice(-MOST));
        if (page.more) mine.again();
      }
      if (first || atEnd) requestAnimationFrame(() => box.current && (box.current.scrollTop = box.current.scrollHeight));
    };
    const mine = new Asking<LogLines>((signal) => get(path, { ...filter, after: end }, signal), told, failed);
    asking.current = mine;
    const timer = setTimeout(() => mine.again(), 150);
    return () => {
      clearTimeout(timer);
      mine.stop();
    };
  }, [run.id, level, match]);
  const live = run.state === "running";
  useLive({ lines: live ? [run.id] : [] }, (kind, data: { run: string }) => {
    if (kind === "lines" ? data.run === run.id : live && (kind === "hello" || kind === "resync")) asking.current?.again();
  });
  const lived = useRef(live);
  useEffect(() => {
    if (lived.current && !live) asking.current?.again();
    lived.current = live;
  }, [live]);
  const earlier = async (): Promise<void> => {
    try {
      const page = await get<LogLines>(path, { ...filter, before: start });
      setLines((known) => [...page.lines, ...(known ?? [])]);
      setStart(page.start);
      setMore(page.more);
    } catch (said) {
      failed(said);
    }
  };
  return (
    <section class="log">
      <div class="log-bar">
        {choice}
        <select class="field" aria-label="least level" value={level} onChange={(event) => set({ level: event.currentTarget.value === "all" ? undefined : event.currentTarget.value })}>
          {LEVELS.map((one) => <option key={one} value={one}>{one === "all" ? "every level" : `${one} and above`}</option>)}
        </select>
        <input class="field grow" type="search" placeholder="Only lines that fit a regular expression" aria-label="Only lines that fit" value={match} onInput={(event) => set({ match: event.currentTarget.value })} />
      </div>
      {error && <Notice error={error} />}
      {!lines && !error && <Waiting height={300} />}
      {lines && lines.length === 0 && (
        <Empty title={match || level !== "all" ? "No line fits" : "Nothing was logged"}>
          {!match && level === "all" && <>What goes to Python's <code>logging</code> is kept after this line:<br /><br /><Command text="paddock.init(capture_logging=True)" /></>}
        </Empty>
      )}
      {lines && lines.length > 0 && (
        <div class="log-box" ref={box} tabIndex={0} role="log" aria-label="what the processes logged">
          {more && <button type="button" class="button plain" onClick={() => void earlier()}>Earlier lines</button>}
          {lines.map((line, at) => <LoggedRow key={`${line.t} ${at}`} line={line} />)}
        </div>
      )}
    </section>
  );
}

function LoggedRow({ line }: { line: LogLine }): JSX.Element {
  const name = line.level >= 50 ? "CRITICAL" : line.level >= 40 ? "ERROR" : line.level >= 30 ? "WARNING" : line.level >= 20 ? "INFO" : "DEBUG";
  const tone = line.level >= 40 ? "bad-text" : line.level >= 30 ? "warn-text" : "muted";
  return (
    <div class="logged-row">
      <time class="muted">{clock(line.t).slice(11)}</time>
      <span class={tone}>{name}</span>
      <span class="muted cut" title={`${line.logger} ${line.where} ${line.host}`}>{line.rank !== null ? `${line.rank} ` : ""}{line.where || line.logger}</span>
      <span class="logged-text">{line.text}{line.trace && <pre>{line.trace}</pre>}</span>
    </div>
  );
}
