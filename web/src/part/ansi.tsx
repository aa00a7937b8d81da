import type { JSX } from "preact";
import "~/style/ansi.css";
import { parse, type Pen } from "~/text/ansi";

/** One line of output with its colours, as text nodes. */
export function Ansi({ line, pen }: { line: string; pen?: Pen }): JSX.Element {
  return (
    <span class="ansi">
      {parse(line, pen).pieces.map((piece) => (
        <span class={piece.kind || undefined} style={piece.color || piece.background ? { color: piece.color, background: piece.background } : undefined}>
          {piece.text}
        </span>
      ))}
    </span>
  );
}
