import { expect, test } from "vitest";
import { commandLine, quoted } from "./shell.ts";

test("a word is one word to a shell", () => {
  expect(["out/a-1.b", "my out", "it's", "$(rm)", ""].map(quoted)).toEqual(["out/a-1.b", "'my out'", "'it'\\''s'", "'$(rm)'", "''"]);
});

test("a command stands as it can be pasted", () => {
  expect(commandLine(["python", "train.py", "--name", "my run"])).toBe("python train.py --name 'my run'");
  expect(commandLine(["/bin/sh", "-c", "python a.py && python b.py"])).toBe("python a.py && python b.py");
  expect(commandLine([])).toBe("");
});
