import type { JSX } from "preact";
import "~/page/reports/reports.css";
import type { Report } from "~/api/board";
import { ApiError, get, post } from "~/api/client";
import { useFetched } from "~/api/fetched";
import { Empty, Notice, Waiting } from "~/part/parts";
import { go } from "~/route/router";
import { say } from "~/shell/toast";
import { ago, plural } from "~/text/format";

export default function Reports(): JSX.Element {
  const found = useFetched("", (signal) => get<{ reports: Report[] }>("/reports", {}, signal));
  const begin = async (): Promise<void> => {
    try {
      const made = await post<Report>("/reports", { title: "New report", blocks: [{ kind: "text", text: "" }] });
      go("report", made.id, { edit: true });
    } catch (error) {
      if (error instanceof ApiError && error.status !== 401) say(error.message, true);
    }
  };
  const reports = found.data?.reports;
  return (
    <>
      <div class="page-head">
        <h1>Reports</h1>
        <span class="grow" />
        <button type="button" class="button" onClick={() => void begin()}>New report</button>
      </div>
      {found.error && <Notice error={found.error} />}
      {!reports && !found.error && <Waiting height={160} />}
      {reports?.length === 0 && (
        <div class="card"><Empty title="No reports yet" command='paddock compare project=mnist --report "My report"'>
          A report is a saved comparison with prose around it. <a href="/runs">Select runs</a>, press <kbd>c</kbd>, then <b>Put into a report</b>; or:
        </Empty></div>
      )}
      <ul class="report-list">
        {reports?.map((report) => (
          <li key={report.id} class="card">
            <a href={`/reports/${report.id}`}>
              <h2 class="cut">{report.title}</h2>
              <p class="muted small">{plural(report.blocks.filter((block) => block.kind === "comparison").length, "comparison")}, saved {ago(report.saved, Date.now() / 1000)}{report.user && ` by ${report.user}`}</p>
              <p class="report-begin muted">{report.blocks.find((block) => block.kind === "text" && block.text.trim())?.text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replace(/^\s*[-+#>]+/gm, " ").replace(/[*`|_\n]+/g, " ").slice(0, 160) ?? ""}</p>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
