/** Server-sent events out of a stream of text, piece by piece. Pure but for what it holds of a piece that is not whole. */

export interface Told {
  kind: string;
  id: string;
  data: string;
}

export class Parser {
  private rest = "";
  private data: string[] = [];
  private kind = "";
  private id = "";

  /** The events that this piece completes. */
  feed(piece: string): Told[] {
    const found: Told[] = [];
    const lines = (this.rest + piece).split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop() ?? "";
    for (const line of lines) this.line(line, found);
    return found;
  }

  private line(line: string, found: Told[]): void {
    if (line === "") {
      if (this.data.length > 0) found.push({ kind: this.kind || "message", id: this.id, data: this.data.join("\n") });
      this.data = [];
      this.kind = "";
      return;
    }
    const at = line.indexOf(":");
    const name = at < 0 ? line : line.slice(0, at);
    const value = at < 0 ? "" : line.slice(at + 1).replace(/^ /, "");
    if (name === "data") this.data.push(value);
    else if (name === "event") this.kind = value;
    else if (name === "id") this.id = value;
  }
}
