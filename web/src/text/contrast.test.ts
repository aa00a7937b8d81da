import { expect, test } from "vitest";
import { readable } from "./contrast.ts";

test("a colour that can be read stays as it is", () => {
  expect(readable("#003366", "#ffffff")).toBe("#003366");
  expect(readable("#ffcc00", "#161c1a")).toBe("#ffcc00");
});

test("one that cannot becomes darker on light and lighter on dark", () => {
  expect(readable("#ff8700", "#ffffff")).toBe("#b35f00");
  expect(readable("#000080", "#161c1a")).not.toBe("#000080");
  expect(readable("#ffffff", "#ffffff")).toMatch(/^#([0-7][0-9a-f]){3}$/);
});

test("what is no colour of six digits is left alone", () => {
  expect(readable("red", "#ffffff")).toBe("red");
});
