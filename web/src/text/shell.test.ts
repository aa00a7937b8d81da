import { expect, test } from "vitest";
import { quoted } from "./shell.ts";

test("a word is one word to a shell", () => {
  expect(["out/a-1.b", "my out", "it's", "$(rm)", ""].map(quoted)).toEqual(["out/a-1.b", "'my out'", "'it'\\''s'", "'$(rm)'", "''"]);
});
