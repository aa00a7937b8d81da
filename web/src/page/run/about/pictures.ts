/** The pictures and tables of a run by their names. Pure. */
import type { Kept } from "~/api/about";

export interface Picture {
  step: number | null;
  caption: string;
  file: Kept;
}

/** Records name a file below the run's directory; the list of files is that of its `files/`. What is gone is left away. */
export function series(records: readonly Readonly<Record<string, unknown>>[], files: readonly Kept[]): { name: string; pictures: Picture[] }[] {
  const byPath = new Map(files.map((file) => [file.path, file]));
  const found = new Map<string, Picture[]>();
  for (const record of records) {
    const file = byPath.get(String(record["path"] ?? "").replace(/^files\//, ""));
    if (!file) continue;
    const name = String(record["name"] ?? "");
    const picture = { step: typeof record["step"] === "number" ? record["step"] : null, caption: typeof record["caption"] === "string" ? record["caption"] : "", file };
    const known = found.get(name);
    if (known) known.push(picture);
    else found.set(name, [picture]);
  }
  return [...found].map(([name, pictures]) => ({ name, pictures: pictures.sort((one, other) => (one.step ?? 0) - (other.step ?? 0)) }));
}
