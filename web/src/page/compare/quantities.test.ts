import { expect, test } from "vitest";
import { isWide, ofProperty, share } from "./quantities.ts";
import { GONE } from "./properties.ts";

const property = (values: unknown[]) => ({ key: "config.a", title: "a", values, seed: false });

test("words stand beside each other in their order", () => {
  const found = ofProperty(property(["sgd", "adam", "sgd", GONE]));
  expect(found.values).toEqual([2, 1, 2, 0]);
  expect(found.names).toEqual(["–", "adam", "sgd"]);
});

test("numbers are numbers, and what spans much is on a logarithm", () => {
  const wide = ofProperty(property([0.001, 0.1, 0.01]));
  expect(isWide(wide)).toBe(true);
  expect(share(wide)(0.01)).toBeCloseTo(0.5, 9);
  const narrow = ofProperty(property([0, 5, 10, GONE]));
  expect(isWide(narrow)).toBe(false);
  expect(narrow.values[3]).toBeNaN();
  expect(share(narrow)(5)).toBe(0.5);
  expect(share(ofProperty(property([3, 3])))(3)).toBe(0.5);
});
