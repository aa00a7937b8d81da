/** What was written on a report and not saved yet, kept by the browser: prose outlives a click on another page, the
 * key for going back, and a browser that ends. */
import type { Block, Report } from "~/api/board";

export interface Draft {
  /** The version that was changed. When somebody has saved since, the server says so. */
  base: string;
  title: string;
  blocks: Block[];
}

const key = (report: string): string => `paddock.draft.${report}`;

export function draftOf(report: Report): Draft | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(key(report.id)) ?? "null") as Partial<Draft> | null;
    if (typeof found?.base !== "string" || typeof found.title !== "string" || !Array.isArray(found.blocks)) return undefined;
    const blocks = found.blocks.filter((one) => (one?.kind === "text" || one?.kind === "comparison") && typeof one.text === "string");
    return { base: found.base, title: found.title, blocks };
  } catch {
    return undefined; // none, or a browser that keeps nothing
  }
}

export function keepDraft(report: Report, draft: Draft | undefined): void {
  try {
    if (draft) localStorage.setItem(key(report.id), JSON.stringify(draft));
    else localStorage.removeItem(key(report.id));
  } catch {
    // a browser that keeps nothing: it asks before the page is left
  }
}
