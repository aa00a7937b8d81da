import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { Report } from "~/api/board";
import { ApiError, get, post } from "~/api/client";
import { useFetched } from "~/api/fetched";
import { Dialog } from "~/part/dialog";
import { Notice } from "~/part/parts";
import { go } from "~/route/router";

/** Put what is seen into a report: a new one, or behind what another has. */
export function SaveDialog({ query, onClose }: { query: URLSearchParams; onClose: () => void }): JSX.Element {
  const [title, setTitle] = useState("");
  const [into, setInto] = useState("");
  const [error, setError] = useState<ApiError>();
  const known = useFetched("", (signal) => get<{ reports: Report[] }>("/reports", {}, signal));
  const keep = async (): Promise<void> => {
    const block = { kind: "comparison" as const, text: query.toString() };
    try {
      const old = known.data?.reports.find((report) => report.id === into);
      const made = old
        ? await post<Report>(`/reports/${old.id}`, { title: old.title, blocks: [...old.blocks, block], base: old.name })
        : await post<Report>("/reports", { title: title.trim(), blocks: [{ kind: "text", text: "" }, block] });
      go("report", made.id);
    } catch (said) {
      if (said instanceof ApiError && said.status === 401) onClose();
      setError(said instanceof ApiError ? said : new ApiError(0, String(said), "", ""));
    }
  };
  return (
    <Dialog title="Put into a report" onClose={onClose} footer={<button type="button" class="button primary" disabled={!into && !title.trim()} onClick={() => void keep()}>Keep</button>}>
      <div class="stack">
        <label class="stack">Into
          <select class="field" value={into} onChange={(event) => setInto(event.currentTarget.value)}>
            <option value="">a new report</option>
            {known.data?.reports.map((report) => <option key={report.id} value={report.id}>{report.title}</option>)}
          </select>
        </label>
        {!into && <label class="stack">Its title<input class="field" autofocus value={title} onInput={(event) => setTitle(event.currentTarget.value)} onKeyDown={(event) => event.key === "Enter" && title.trim() && void keep()} /></label>}
        {error && <Notice error={error} />}
      </div>
    </Dialog>
  );
}
