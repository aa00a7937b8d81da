/** Nested values as rows: `optim.lr`. Pure. */
export interface Leaf {
  key: string;
  value: unknown;
}

export function flat(value: unknown, prefix = ""): Leaf[] {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [{ key: prefix, value }];
  const entries = Object.entries(value);
  if (entries.length === 0) return prefix ? [{ key: prefix, value: {} }] : [];
  return entries.flatMap(([name, inner]) => flat(inner, prefix ? `${prefix}.${name}` : name));
}
