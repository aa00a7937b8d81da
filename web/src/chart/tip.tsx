import type { JSX } from "preact";
import type { Row } from "~/chart/pointing";
import { number } from "~/text/format";

export interface Pointed {
  x: string;
  rows: readonly Row[];
  more: number;
  left: number;
  width: number;
}

/** What is under the cursor; on the side where there is room. */
export function Tip({ x, rows, more, left, width }: Pointed): JSX.Element {
  const right = left > width / 2;
  return (
    <div class="tip" style={right ? { right: `${width - left + 12}px` } : { left: `${left + 12}px` }}>
      <div class="tip-x">{x}</div>
      {rows.map((row) => (
        <div class="tip-row" key={row.key}>
          <i style={{ background: row.color }} />
          <span class="cut">{row.label}</span>
          <b>{number(row.value)}{row.spread !== undefined && row.spread === row.spread && ` ± ${number(row.spread, 3)}`}</b>
          {row.text && <span class="tip-text">{row.text}</span>}
        </div>
      ))}
      {more > 0 && <div class="muted">and {more} more</div>}
    </div>
  );
}
