import { describe, expect, test } from "vitest";
import { Asking } from "./asking.ts";

/** Answers that come when they are let go. */
function slow() {
  const waiting: { signal: AbortSignal; answer: (text: string) => Promise<void> }[] = [];
  const heard: string[] = [];
  const asking = new Asking<string>(
    (signal) => new Promise((done) => waiting.push({ signal, answer: async (text) => (done(text), await Promise.resolve(), await Promise.resolve()) })),
    (text) => heard.push(text),
    (error) => heard.push(`failed: ${String(error)}`),
  );
  return { asking, waiting, heard };
}

describe("a question that is asked again", () => {
  test("while its answer is on its way is asked once more behind it, and the first is heard", async () => {
    const { asking, waiting, heard } = slow();
    for (let times = 0; times < 5; times += 1) asking.again();
    expect(waiting.length).toBe(1);
    await waiting[0]!.answer("first");
    expect([heard, waiting.length]).toEqual([["first"], 2]);
    await waiting[1]!.answer("second");
    expect([heard, waiting.length]).toEqual([["first", "second"], 2]);
  });

  test("is not heard any more when it was stopped", async () => {
    const { asking, waiting, heard } = slow();
    asking.again();
    asking.stop();
    expect(waiting[0]!.signal.aborted).toBe(true);
    await waiting[0]!.answer("late");
    expect([heard, waiting.length]).toEqual([[], 1]);
  });

  test("is answered with what has happened since it was asked", async () => {
    const { asking, waiting, heard } = slow();
    asking.change((text) => `${text}, too early`);
    asking.again();
    asking.change((text) => `${text}, ended`);
    asking.again();
    await waiting[0]!.answer("goes on");
    await waiting[1]!.answer("knows of its end");
    expect(heard).toEqual(["goes on, ended", "knows of its end"]);
  });

  test("is asked anew when its answer is known to be old", async () => {
    const { asking, waiting, heard } = slow();
    asking.again();
    asking.forget();
    await waiting[0]!.answer("old");
    await waiting[1]!.answer("new");
    expect(heard).toEqual(["new"]);
  });
});
