import { expect, test } from "vitest";
import type { Process } from "~/api/types";
import { attempts } from "./attempts.ts";

const writer = (name: string, attempt: number, more: Partial<Process> = {}): Process => ({
  name, role: "main", host: "h", pid: 1, rank: null, attempt, state: "ended", started: attempt * 100, seen: 0, damaged: 0, dropped: {}, ...more,
});

test("an attempt says where it ran, and how it ended", () => {
  const writers = [
    writer("a", 1), writer("sup", 1, { role: "supervisor", host: "h" }), writer("b", 2, { host: "g" }),
    writer("c", 3, { state: "running" }), writer("me", 3, { role: "annotation" }),
  ];
  const ends = [{ k: "end", t: 150, code: 1, writer: "a", exception: { type: "ValueError", message: "x < 0", traceback: "Traceback…" } }];
  const exits = [{ k: "exit", t: 151, attempt: 1, code: 1, writer: "sup", seconds: 51, peak_memory: 1e6 }, { k: "exit", t: 260, attempt: 2, signal: "KILL", oom: true, writer: "x" }];
  const found = attempts(writers, ends, exits);
  expect(found.map((one) => [one.number, one.host, one.ending])).toEqual([
    [1, "h", "ValueError: x < 0"], [2, "g", "killed: out of memory"], [3, "h", ""],
  ]);
  expect(found[0]).toMatchObject({ ended: 151, seconds: 51, memory: 1e6, trace: "Traceback…" });
  expect(found[2]!.processes).toHaveLength(1);
});

test("what a worker did to it comes before the signal that it did it with", () => {
  const found = attempts([writer("a", 1)], [], [{ t: 1, attempt: 1, signal: "KILL", why: "timed out" }]);
  expect(found[0]!.ending).toBe("timed out");
});
