/** Which row each label is written in, so that none is written over another; -1 for those that have no room. */
export function rows(spans: readonly (readonly [left: number, right: number])[], most: number): number[] {
  const ends: number[] = []; // of each row, how far it is written
  const order = spans.map((_, at) => at).sort((one, other) => spans[one]![0] - spans[other]![0]);
  const found = spans.map(() => -1);
  for (const at of order) {
    const [left, right] = spans[at]!;
    for (let row = 0; row < most; row += 1) {
      if ((ends[row] ?? -Infinity) <= left) {
        ends[row] = right;
        found[at] = row;
        break;
      }
    }
  }
  return found;
}
