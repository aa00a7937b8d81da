import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, post } from "~/api/client";
import type { Bar, NowRun } from "~/api/now";
import { Dialog } from "~/part/dialog";
import { Meter, StateMark } from "~/part/parts";
import { troubleOf } from "~/page/now/order";
import { say } from "~/shell/toast";
import { count, duration, number } from "~/text/format";

const BARS = 3;

/** A run at this minute: where, how far, how long still. */
export function RunCard({ run, trouble }: { run: NowRun; trouble?: boolean }): JSX.Element {
  const [asking, setAsking] = useState(false);
  return (
    <article class={`card now-run${trouble ? " trouble" : ""}`}>
      <header>
        <StateMark state={run.stalled && trouble ? "stalled" : run.state} />
        <a class="cut grow" href={`/runs/${encodeURIComponent(run.id)}`} title={run.id}>{run.name}</a>
        <span class="muted small cut">{run.project}{run.host && ` on ${run.host}`}</span>
        {run.state === "running" && <button type="button" class="button plain" aria-label={`Cancel ${run.name}`} title="Cancel" onClick={() => setAsking(true)}>✕</button>}
      </header>
      <div class="now-run-body">
        {trouble && <p class="warn-text">{troubleOf(run, duration)}</p>}
        {run.bars.slice(0, BARS).map((bar) => <BarLine key={bar.id} bar={bar} />)}
        <p class="muted small now-line">
          <span>{duration(run.seconds)}</span>
          {run.step !== null && <span>step {count(run.step)}</span>}
          {run.step_seconds !== null && run.step_seconds > 0 && <span>{duration(run.step_seconds)} a step</span>}
          {run.questions > 0 && <span class="warn-text">waits for an answer</span>}
          {run.attempt > 1 && <span class="warn-text">attempt {run.attempt}</span>}
          {run.values.slice(0, 4).map((value) => <span key={value.metric}>{value.metric} <b>{value.value === null ? "NaN" : number(value.value, 4)}</b></span>)}
        </p>
      </div>
      {asking && <Cancel run={run} onClose={() => setAsking(false)} />}
    </article>
  );
}

function BarLine({ bar }: { bar: Bar }): JSX.Element {
  const rate = bar.rate ? `${number(bar.rate, 3)} ${bar.unit ?? ""}/s` : "";
  return (
    <div class="now-bar">
      <span class="cut">{bar.msg.join(" ") || "progress"}</span>
      <Meter share={bar.fraction} state={bar.state} />
      {bar.fraction === null && <span class="muted small">{number(bar.done)} {bar.unit ?? ""}</span>}
      <span class="muted small number">{bar.state === "running" ? (bar.eta !== null ? `${duration(bar.eta)} left` : rate) : bar.state}</span>
    </div>
  );
}

function Cancel({ run, onClose }: { run: NowRun; onClose: () => void }): JSX.Element {
  const go = async (): Promise<void> => {
    onClose();
    try {
      say((await post<{ message: string }>(`/now/runs/${encodeURIComponent(run.id)}/cancel`)).message);
    } catch (error) {
      if (error instanceof ApiError && error.status !== 401) say(error.message, true);
    }
  };
  return (
    <Dialog title="Cancel 1 run?" onClose={onClose} footer={<><button type="button" class="button" autofocus onClick={onClose}>No</button><button type="button" class="button danger" onClick={() => void go()}>Cancel 1 run</button></>}>
      <p><b>{run.name}</b> and its processes on {run.host || "its host"} are ended. What it has recorded stays.</p>
    </Dialog>
  );
}
