import type { JSX } from "preact";

const MOST = 5000;

/** A text with the numbers of its lines. */
export function Source({ text }: { text: string }): JSX.Element {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    <div class="source" tabIndex={0} role="region" aria-label="text of the file">
      <pre aria-hidden="true" class="numbers">{lines.slice(0, MOST).map((_, at) => at + 1).join("\n")}</pre>
      <pre>{lines.slice(0, MOST).join("\n")}{lines.length > MOST && `\n… ${lines.length - MOST} more lines`}</pre>
    </div>
  );
}

/** A unified diff, its lines in their colours; a sign stands before each, so that colour is not all there is. */
export function Diff({ text }: { text: string }): JSX.Element {
  const lines = text.replace(/\n$/, "").split("\n");
  return (
    <div class="source" tabIndex={0} role="region" aria-label="differences">
      <pre>
        {lines.slice(0, MOST).map((line, at) => <span key={at} class={kind(line)}>{line}{"\n"}</span>)}
        {lines.length > MOST && `… ${lines.length - MOST} more lines`}
      </pre>
    </div>
  );
}

function kind(line: string): string | undefined {
  if (line.startsWith("+++") || line.startsWith("---") || line.startsWith("diff ") || line.startsWith("index ")) return "diff-file";
  if (line.startsWith("@@")) return "diff-place";
  if (line.startsWith("+")) return "diff-new";
  return line.startsWith("-") ? "diff-old" : undefined;
}
