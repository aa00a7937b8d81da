import { describe, expect, test } from "vitest";
import { and, equals, keyText, these } from "./query.ts";

describe("queries that we write", () => {
  test.each([
    ["config.lr", 0.1, "config.lr=0.1"],
    ["config.name", "resnet", "config.name=resnet"],
    ["config.name", "a b", 'config.name="a b"'],
    ["config.name", 'say "x"\\', 'config.name="say \\"x\\"\\\\"'],
    ["config.name", "0.1", 'config.name="0.1"'],
    ["config.flag", true, "config.flag=true"],
    ["config.flag", "true", 'config.flag="true"'],
    ["config.x", null, "config.x=null"],
    ["config.my key", 1, 'config."my key"=1'],
    ["and", 1, '"and"=1'],
  ])("%s = %s", (key, value, text) => expect(equals(key, value)).toBe(text));

  test("a run that lacks the key", () => expect(equals("config.x", undefined)).toBe("not has:config.x"));

  test("are added to what people wrote", () => {
    expect(and("", "a=1")).toBe("a=1");
    expect(and("lr<1", "a=1")).toBe("lr<1 a=1");
    expect(and("lr<1 or lr>2", "a=1")).toBe("(lr<1 or lr>2) a=1");
  });

  test("name runs", () => {
    expect(these(["a", "b.1-x"])).toBe("id=a,b.1-x");
    expect(keyText("best.acc{split=val}")).toBe('best."acc{split=val}"');
  });
});
