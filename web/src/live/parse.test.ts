import { expect, test } from "vitest";
import { Parser } from "./parse.ts";

const TEXT = ": hello\n\nid: 7\nevent: runs\ndata: {\"a\":\ndata: 1}\n\nevent: empty\n\ndata:x\r\n\r\n";

test("events come out whole wherever the stream is cut", () => {
  for (let at = 0; at <= TEXT.length; at += 1) {
    const parser = new Parser();
    const found = [...parser.feed(TEXT.slice(0, at)), ...parser.feed(TEXT.slice(at))];
    expect(found).toEqual([
      { kind: "runs", id: "7", data: '{"a":\n1}' },
      { kind: "message", id: "7", data: "x" },
    ]);
  }
});

test("what has not ended is not told", () => {
  expect(new Parser().feed("data: x\n")).toEqual([]);
});
