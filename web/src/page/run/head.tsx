import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { Evaluations } from "~/api/about";
import { ApiError, post } from "~/api/client";
import type { Run } from "~/api/types";
import { Meter, StateMark } from "~/part/parts";
import { say } from "~/shell/toast";
import { ago, clock, duration, plural } from "~/text/format";

const TICK_MS = 1000;

/** Who the run is and how it stands, in two lines that keep their places. */
export function Head({ run, onStar, evaluations, why }: { run: Run; onStar: (star: boolean) => void; evaluations: Evaluations | undefined; why: string }): JSX.Element {
  const now = useNow(run.state === "running");
  const began = run.started ?? run.created;
  const progress = run.progress as { fraction?: number | null; eta?: number | null } | null;
  const star = async (): Promise<void> => {
    try {
      // Of the whole answer this alone: the rest may be older than what was heard since.
      onStar((await post<Run>(`/runs/${encodeURIComponent(run.id)}/annotations`, { star: !run.star })).star);
    } catch (error) {
      if (error instanceof ApiError && error.status !== 401) say(error.message, true);
    }
  };
  const scored = evaluations ? evaluations.evaluations : [];
  const waiting = scored.filter((one) => one.state === "pending" || one.state === "running").length;
  const failed = scored.filter((one) => one.state === "failed").length;
  return (
    <header class="run-head">
      <div class="run-title">
        <button type="button" class="button plain star" aria-pressed={run.star} aria-label="star" title="A good one" onClick={() => void star()}>{run.star ? "★" : "☆"}</button>
        <h1 title={run.name}>{run.name}</h1>
        <StateMark state={run.state} />
        {run.reason && run.state !== "finished" && <span class="bad-text cut run-reason" title={run.reason}>{run.reason}</span>}
        {run.bug && <span class="tag bad-text">bug</span>}
        <span class="grow" />
        <a class="button wide-only" href={`/compare?run=${encodeURIComponent(run.id)}`}>Compare</a>
      </div>
      <div class="run-facts">
        <span class="muted">{run.project}</span>
        <span class="muted mono">{run.id}</span>
        <span class="muted" title={clock(began)}>{run.started ? `${duration((run.ended ?? now) - began)}` : "not begun"}{run.ended ? `, ended ${ago(run.ended, now)}` : ""}</span>
        {run.queue && <span class="muted">waits in <a href={`/queue/${encodeURIComponent(run.queue)}?task=${encodeURIComponent(run.id)}`}>{run.queue}</a>{why && `: ${why}`}</span>}
        {run.host && run.started && <span class="muted">on {run.host}</span>}
        {run.attempts > 1 && <span class="warn-text">{plural(run.attempts, "attempt")}</span>}
        {scored.length > 0 && (
          <a href={evaluations?.watches[0] ? `/watches/${encodeURIComponent(evaluations.watches[0])}` : "/watches"}>
            {plural(scored.length, "evaluation")}{waiting > 0 && `, ${waiting} to come`}{failed > 0 && <span class="bad-text">, {failed} failed</span>}
          </a>
        )}
        {run.tags.map((tag) => <a class="tag" key={tag} href={`/runs?q=${encodeURIComponent(`tag:${tag}`)}`}>{tag}</a>)}
        {progress && run.state === "running" && (
          <span class="run-progress"><Meter share={progress.fraction} state={run.state} />{typeof progress.eta === "number" && <span class="muted small">{duration(progress.eta)} left</span>}</span>
        )}
        {run.notes && <span class="run-note" title={run.notes}>{run.notes}</span>}
      </div>
    </header>
  );
}

/** The time, once a second while it matters. */
export function useNow(ticks: boolean): number {
  const [now, setNow] = useState(Date.now() / 1000);
  useEffect(() => {
    if (!ticks) return;
    const timer = setInterval(() => setNow(Date.now() / 1000), TICK_MS);
    return () => clearInterval(timer);
  }, [ticks]);
  return now;
}
