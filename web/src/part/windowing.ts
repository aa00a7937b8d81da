/** Which rows of a long table are drawn and which are fetched. Pure. */

export interface Seen {
  first: number;
  /** Behind the last. */
  end: number;
}

/** The rows between two edges of the screen, and some more on each side, so that scrolling meets rows that are there. */
export function seen(top: number, height: number, row: number, total: number, more = 8): Seen {
  const first = Math.max(0, Math.floor(top / row) - more);
  const end = Math.min(total, Math.ceil((top + height) / row) + more);
  return { first: Math.min(first, Math.max(0, end)), end: Math.max(0, end) };
}

/** The numbers of the windows of `size` rows that hold them. */
export function windows({ first, end }: Seen, size: number): number[] {
  const found: number[] = [];
  for (let at = Math.floor(first / size); at * size < end; at += 1) found.push(at);
  return found;
}

/** Where to scroll to so that a row is seen, the less the better; undefined when it is seen already. */
export function reveal(row: number, top: number, height: number, size: number): number | undefined {
  if (row * size < top) return row * size;
  if ((row + 1) * size > top + height) return (row + 1) * size - height;
  return undefined;
}
