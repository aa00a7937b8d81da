import type { JSX } from "preact";
import { Meter, StateMark } from "~/part/parts";
import { ago, cell, clock, duration, number } from "~/text/format";
import type { Column } from "~/page/runs/columns";
import type { Row } from "~/page/runs/rows";
import { Spark } from "~/page/runs/spark";

/** One value of one run, as its column shows it. */
export function Cell({ column, row, now, spark }: { column: Column; row: Row; now: number; spark: string | undefined }): JSX.Element | string | null {
  const value = row.get(column.key);
  switch (column.kind) {
    case "name":
      return <a href={`/runs/${encodeURIComponent(row.id)}`} class="cut" title={String(value || row.id)}>{String(value || row.id)}</a>;
    case "state":
      return <StateMark state={String(value)} />;
    case "progress":
      return <Meter share={value as number | null} state={String(row.get("state"))} />;
    case "age":
      return typeof value === "number" ? <span title={clock(value)}>{ago(value, now)}</span> : "–";
    case "seconds":
      return duration(value as number | null);
    case "tags":
      return <span class="tags">{((value ?? []) as string[]).map((tag) => <span class="tag" key={tag}>{tag}</span>)}</span>;
    case "spark":
      return <Spark path={spark} />;
    case "number":
      return number(value);
    default:
      return value === null || value === undefined ? <span class="nothing">–</span> : <span class="cut" title={cell(value)}>{cell(value)}</span>;
  }
}

export function isRight(column: Column, value: unknown): boolean {
  return column.kind === "number" || column.kind === "seconds" || column.kind === "age" || (column.kind === "value" && typeof value === "number");
}
