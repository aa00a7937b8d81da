import type { JSX } from "preact";
import { useState } from "preact/hooks";
import "~/page/now/now.css";
import { ApiError, post } from "~/api/client";
import type { Question } from "~/api/now";
import { say } from "~/shell/toast";
import { ago, duration } from "~/text/format";

/** What processes ask, and wait for. */
export function Questions({ asked, now }: { asked: Question[]; now: number }): JSX.Element | null {
  if (asked.length === 0) return null;
  return (
    <section aria-labelledby="questions">
      <h2 id="questions" class="warn-text">{asked.length === 1 ? "A question waits" : `${asked.length} questions wait`}</h2>
      <div class="now-runs">{asked.map((one) => <Asked key={`${one.run} ${one.id}`} question={one} now={now} />)}</div>
    </section>
  );
}

function Asked({ question, now }: { question: Question; now: number }): JSX.Element {
  const [text, setText] = useState(question.default ?? "");
  const [sending, setSending] = useState(false);
  const answer = async (said: string): Promise<void> => {
    setSending(true);
    try {
      await post(`/runs/${encodeURIComponent(question.run)}/questions/${encodeURIComponent(question.id)}/answer`, { text: said });
      say(`${question.run_name} has its answer.`);
    } catch (error) {
      setSending(false);
      if (error instanceof ApiError && error.status !== 401) say(error.message, true);
    }
  };
  return (
    <article class="card now-run trouble">
      <header>
        <a class="cut grow" href={`/runs/${encodeURIComponent(question.run)}`}>{question.run_name}</a>
        <span class="muted small">{ago(question.time, now)}{question.until !== null && `, in ${duration(Math.max(0, question.until - now))} it takes ${question.default === null ? "no answer" : `“${question.default}”`}`}</span>
      </header>
      <form class="now-run-body" onSubmit={(event) => { event.preventDefault(); void answer(text); }}>
        <p><b>{question.prompt}</b></p>
        {question.choices.length > 0
          ? <div class="row">{question.choices.map((choice) => <button type="button" key={choice} class={`button${choice === question.default ? " primary" : ""}`} disabled={sending} onClick={() => void answer(choice)}>{choice}</button>)}</div>
          : (
            <div class="row">
              <input class="field grow" {...(question.secret ? { type: "password" as const } : { type: "text" as const })} autocomplete="off" aria-label={question.prompt} value={text} disabled={sending} onInput={(event) => setText(event.currentTarget.value)} />
              <button class="button primary" disabled={sending}>Answer</button>
            </div>
          )}
      </form>
    </article>
  );
}
