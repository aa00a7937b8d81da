/** The attempts of a run, from its processes and what they said at their end. Pure. */
import type { Process } from "~/api/types";

export interface Attempt {
  number: number;
  host: string;
  started: number;
  ended: number | null;
  processes: Process[];
  /** How it ended, in words; empty while it runs. */
  ending: string;
  /** The traceback, where there was an exception. */
  trace: string;
  seconds: number | null;
  memory: number | null;
}

type Record_ = Readonly<Record<string, unknown>>;

export function attempts(writers: readonly Process[], ends: readonly Record_[], exits: readonly Record_[]): Attempt[] {
  const own = writers.filter((one) => one.role !== "annotation");
  const numbers = [...new Set(own.map((one) => one.attempt))].sort((one, other) => one - other);
  return numbers.map((number) => {
    const processes = own.filter((one) => one.attempt === number);
    const mains = processes.filter((one) => one.role === "main");
    const first = mains.find((one) => (one.rank ?? 0) === 0) ?? mains[0] ?? processes[0]!;
    const end = ends.findLast((one) => mains.some((writer) => writer.name === one["writer"]));
    const exit = exits.findLast((one) => one["attempt"] === number);
    const last = (exit ?? end)?.["t"];
    return {
      number,
      host: first.host,
      started: Math.min(...processes.map((one) => one.started)),
      ended: typeof last === "number" ? last : null,
      processes,
      ending: ending(end, exit, first.state),
      trace: traceOf(end),
      seconds: numberOf(exit?.["seconds"]),
      memory: numberOf(exit?.["peak_memory"]),
    };
  });
}

function ending(end: Record_ | undefined, exit: Record_ | undefined, state: string): string {
  const why = textOf(exit?.["why"]);
  if (why) return why;
  if (exit?.["oom"]) return "killed: out of memory";
  const exception = end?.["exception"];
  if (exception && typeof exception === "object") {
    const { type, message } = exception as Record_;
    return `${textOf(type)}: ${textOf(message)}`;
  }
  const signal = textOf(exit?.["signal"]) || textOf(end?.["signal"]);
  if (signal) return `signal ${signal}`;
  const code = numberOf(exit?.["code"]) ?? numberOf(end?.["code"]);
  if (code !== null && code !== 0) return `exit code ${code}`;
  if (end || exit) return "finished";
  return state === "running" ? "" : state;
}

function traceOf(end: Record_ | undefined): string {
  const exception = end?.["exception"];
  return exception && typeof exception === "object" ? textOf((exception as Record_)["traceback"]) : "";
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const numberOf = (value: unknown): number | null => (typeof value === "number" ? value : null);
