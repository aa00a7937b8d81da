import { signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { address, failure } from "~/api/client";
import { Parser, type Told } from "~/live/parse";

/**
 * One stream of events for the whole tab. Parts of the page say what they want to hear; the stream is opened again when
 * that changes, and goes on behind the last event it had. A tab that nobody sees holds no connection: browsers allow
 * only six of them to one server, over all tabs.
 */
export interface Topics {
  /** runs, queues, watches, questions */
  kinds?: readonly ("runs" | "queues" | "watches" | "questions")[];
  /** RUN:METRIC */
  points?: readonly string[];
  output?: readonly string[];
  lines?: readonly string[];
}

type Handler = (kind: string, data: never) => void;

export type Link = "live" | "connecting" | "away" | "resting";
export const link = signal<Link>("connecting");

const HIDDEN_MS = 20_000;
const FIRST_MS = 500;
const LONGEST_MS = 15_000;

const listeners = new Map<Handler, Topics>();
let stop: AbortController | undefined;
let open = "";
let last = "";
let pause = FIRST_MS;
let timer = 0;

/** Hear of these until the returned function is called. `resync`: ask for everything again. `hello`: the first stream is
 * there; what was answered before may have changed without a word. */
export function listen(topics: Topics, handler: (kind: string, data: any) => void): () => void {
  listeners.set(handler as Handler, topics);
  soon(30);
  return () => {
    listeners.delete(handler as Handler);
    soon(30);
  };
}

/** The same for a component; the topics may change. */
export function useLive(topics: Topics, handler: (kind: string, data: any) => void): void {
  const key = JSON.stringify(topics);
  const latest = useRef(handler);
  latest.current = handler;
  useEffect(() => listen(topics, (kind, data) => latest.current(kind, data)), [key]);
}

function soon(ms: number): void {
  clearTimeout(timer);
  timer = window.setTimeout(connect, ms);
}

function wanted(): string {
  const all = [...listeners.values()];
  const every = (pick: (topics: Topics) => readonly string[] | undefined): string[] => [
    ...new Set(all.flatMap((topics) => pick(topics) ?? [])),
  ].sort();
  const kinds = every((topics) => topics.kinds);
  const points = every((topics) => topics.points);
  const output = every((topics) => topics.output);
  const lines = every((topics) => topics.lines);
  if (kinds.length + points.length + output.length + lines.length === 0) return "";
  return address("/events", { only: kinds.join(",") || "none", points, output, lines });
}

function connect(): void {
  const next = document.hidden ? "" : wanted();
  if (next === open && stop) return;
  stop?.abort();
  stop = undefined;
  open = next;
  if (!next) {
    link.value = "resting";
    return;
  }
  stop = new AbortController();
  void read(next, stop.signal);
}

async function read(path: string, signal: AbortSignal): Promise<void> {
  if (link.peek() !== "away") link.value = "connecting";
  try {
    const headers: Record<string, string> = last ? { "last-event-id": last } : {};
    const answer = await fetch(path, { headers, signal, credentials: "same-origin", cache: "no-store" });
    if (!answer.ok || !answer.body) throw await failure(answer);
    link.value = "live";
    pause = FIRST_MS;
    await pump(answer.body, signal);
  } catch {
    if (signal.aborted) return;
  }
  if (signal.aborted) return;
  link.value = "away";
  stop = undefined;
  open = "";
  soon(pause);
  pause = Math.min(LONGEST_MS, pause * 2);
}

async function pump(body: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const parser = new Parser();
  while (!signal.aborted) {
    const { done, value } = await reader.read();
    if (done) return;
    for (const told of parser.feed(decoder.decode(value, { stream: true }))) tell(told);
  }
}

function tell(told: Told): void {
  if (told.id) last = told.id;
  let data: unknown;
  try {
    data = JSON.parse(told.data);
  } catch {
    return;
  }
  for (const handler of [...listeners.keys()]) handler(told.kind, data as never);
}

soon(1000); // a page that listens to nothing is not connecting
let hiding = 0;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiding);
  if (document.hidden) hiding = window.setTimeout(connect, HIDDEN_MS);
  else connect();
});
