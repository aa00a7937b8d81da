import { expect, test } from "vitest";
import { isLower } from "./goal.ts";

test.each([["val/loss", true], ["test_wer", true], ["trainLoss", true], ["acc{of=loss}", false], ["val/acc", false], ["lossless", true], ["glossary", true], ["timer", false]])("%s is better when lower: %s", (metric, lower) => {
  expect(isLower(metric)).toBe(lower);
});
