import { describe, expect, test } from "vitest";
import { chosenAfter, fitting, outcome, question } from "./orders.ts";

describe("an order", () => {
  const tasks = [{ state: "queued" }, { state: "active" }, { state: "done" }, { state: "failed" }] as const;
  test("is for tasks that it makes sense for", () => {
    expect(fitting("cancel", tasks)).toEqual([{ state: "queued" }, { state: "active" }]);
    expect(fitting("retry", tasks)).toEqual([{ state: "failed" }]);
  });
  test("is asked about with the count, and says what is left out", () => {
    expect(question("cancel", 1, 1)).toEqual({ title: "Cancel 1 task?", left: "" });
    expect(question("retry", 1200, 1201).title).toBe("Retry 1,200 tasks?");
    expect(question("priority", 2, 4).left).toBe("2 others that are chosen cannot be: priority is for what is queued or paused.");
  });
  test("says what came of it", () => {
    const done = { id: "a", before: "queued", now: "paused", remark: "" };
    expect(outcome("pause", { done: [done], left_out: [], unconfirmed: [] })).toEqual({ text: "1 task paused.", bad: false });
    expect(outcome("move", { done: [], left_out: [{ id: "a", why: "a is active." }], unconfirmed: [] })).toEqual({ text: "0 tasks moved. 1 left out: a is active.", bad: true });
  });
});

test("shift chooses all in between", () => {
  const order = ["a", "b", "c", "d"];
  expect([...chosenAfter(new Set(["b"]), order, "d", "b", true)]).toEqual(["b", "c", "d"]);
  expect([...chosenAfter(new Set(["b"]), order, "b", "b", false)]).toEqual([]);
  expect([...chosenAfter(new Set(), order, "c", "gone", true)]).toEqual(["c"]);
});
