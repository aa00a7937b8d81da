import { expect, test } from "vitest";
import { requests } from "./asking.ts";

test("many series are asked for at once, the first few of them in a request of their own", () => {
  const wants = Array.from({ length: 20 }, (_, n) => ({ metric: `m${n}`, range: undefined }));
  const found = requests(wants, 6, 12);
  expect(found.map((one) => one.metrics.length)).toEqual([6, 12, 2]);
  expect(found.flatMap((one) => one.metrics)).toEqual(wants.map((one) => one.metric));
});

test("those of other steps are asked for apart", () => {
  const found = requests([{ metric: "a", range: [0, 5] }, { metric: "b", range: [1, 5] }, { metric: "c", range: [0, 5] }]);
  expect(found).toEqual([{ metrics: ["a", "c"], range: [0, 5] }, { metrics: ["b"], range: [1, 5] }]);
});
