import { expect, test } from "vitest";
import { rows } from "./labels.ts";

test("labels with room between them share the first row", () => {
  expect(rows([[0, 10], [10, 20], [30, 40]], 3)).toEqual([0, 0, 0]);
});

test("one that would be written over another goes to the next row, in the order of their places", () => {
  expect(rows([[5, 15], [0, 10], [12, 20]], 3)).toEqual([1, 0, 0]);
});

test("one for which no row is left is not written", () => {
  expect(rows([[0, 10], [1, 11], [2, 12]], 2)).toEqual([0, 1, -1]);
});
