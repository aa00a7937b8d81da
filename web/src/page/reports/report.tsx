import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import "~/page/reports/reports.css";
import { runsNamed, type Block, type Report } from "~/api/board";
import { ApiError, get, post } from "~/api/client";
import { useFetched } from "~/api/fetched";
import { Dialog } from "~/part/dialog";
import { Markdown } from "~/part/markdown";
import { Empty, Notice, Waiting } from "~/part/parts";
import { Comparison } from "~/page/compare/comparison";
import { draftOf, keepDraft } from "~/page/reports/draft";
import { settingOf } from "~/page/compare/setting";
import { usePaced } from "~/page/runs/rows";
import { changed } from "~/route/place";
import { asked, go, set } from "~/route/router";
import { useKeys } from "~/shell/keys";
import { say } from "~/shell/toast";
import { clock, plural } from "~/text/format";

export default function ReportPage({ id }: { id: string }): JSX.Element {
  const found = useFetched(id, (signal) => get<Report>(`/reports/${encodeURIComponent(id)}`, {}, signal));
  if (found.error?.status === 404 && !found.data) return <Empty title="There is no such report">It may have been removed. <a href="/reports">All that there are</a></Empty>;
  if (found.error && !found.data) return <Notice error={found.error} />;
  if (!found.data) return <Waiting height={420} />;
  return asked("edit") === "1" ? <Editor key={found.data.name} report={found.data} onSaved={found.put} /> : <Shown report={found.data} />;
}

function Shown({ report }: { report: Report }): JSX.Element {
  const [removing, setRemoving] = useState(false);
  const [making, setMaking] = useState(false);
  useKeys("Report", [{ keys: "e", about: "edit", run: () => set({ edit: true }, true) }]);
  const carry = async (): Promise<void> => {
    setMaking(true);
    try {
      const { download } = await import("~/page/reports/export");
      await download(report);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), true);
    }
    setMaking(false);
  };
  return (
    <article class="report">
      <div class="page-head">
        <h1>{report.title}</h1>
        <span class="grow" />
        <button type="button" class="button" onClick={() => set({ edit: true }, true)}>Edit</button>
        <button type="button" class="button" disabled={making} onClick={() => void carry()}>{making ? "Exporting…" : "Export HTML"}</button>
        <button type="button" class="button" onClick={() => setRemoving(true)}>Remove</button>
      </div>
      <p class="muted small">Saved {clock(report.saved)}{report.user && ` by ${report.user}`}</p>
      {draftOf(report) && <p class="row small"><span class="warn-text">You have written more, and not saved it.</span> <button type="button" class="button" onClick={() => set({ edit: true }, true)}>Go on writing</button></p>}
      {report.blocks.map((block, at) => <BlockView key={at} block={block} />)}
      {removing && <Removal report={report} onClose={() => setRemoving(false)} />}
    </article>
  );
}

function BlockView({ block }: { block: Block }): JSX.Element | null {
  if (block.kind === "text") return block.text.trim() ? <Markdown text={block.text} /> : null;
  return <Saved text={block.text} />;
}

/** A comparison as it was saved; zooming in it changes nothing of it. */
function Saved({ text }: { text: string }): JSX.Element {
  const [query, setQuery] = useState(() => new URLSearchParams(text));
  useEffect(() => setQuery(new URLSearchParams(text)), [text]);
  const { runs: ids } = settingOf(query);
  const found = useFetched(ids.join(), (signal) => runsNamed(ids, signal));
  usePaced(() => found.data?.some((run) => run.state === "running") && found.again());
  return (
    <section class="report-comparison">
      <p class="small"><a href={`/compare?${text}`}>{plural(ids.length, "run")}</a>{found.data && found.data.length < ids.length && <span class="warn-text"> {ids.length - found.data.length} of them are gone</span>}</p>
      {found.error && <Notice error={found.error} />}
      {found.data ? <Comparison query={query} runs={found.data} onChange={(changes) => setQuery((old) => changed(old, changes))} /> : <Waiting height={360} />}
    </section>
  );
}

function Editor({ report, onSaved }: { report: Report; onSaved: (report: Report) => void }): JSX.Element {
  const [draft] = useState(() => draftOf(report));
  const [title, setTitle] = useState(draft?.title ?? report.title);
  const [blocks, setBlocks] = useState<Block[]>(draft?.blocks ?? report.blocks);
  const [error, setError] = useState<ApiError>();
  const [saving, setSaving] = useState(false);
  const dirty = title !== report.title || JSON.stringify(blocks) !== JSON.stringify(report.blocks);
  const base = draft?.base ?? report.name;
  useEffect(() => keepDraft(report, dirty ? { base, title, blocks } : undefined), [title, blocks, dirty]);
  useEffect(() => {
    const ask = (event: BeforeUnloadEvent): void => {
      if (dirty) event.preventDefault();
    };
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [dirty]);
  const keep = async (): Promise<void> => {
    setSaving(true);
    try {
      // What is shown next is what was saved: not, for a moment, what was there before.
      const saved = await post<Report>(`/reports/${report.id}`, { title: title.trim() || "Untitled", blocks, base });
      keepDraft(report, undefined);
      onSaved(saved);
      set({ edit: undefined });
    } catch (said) {
      setSaving(false);
      setError(said instanceof ApiError ? said : new ApiError(0, String(said), "", ""));
    }
  };
  const leave = (): void => {
    keepDraft(report, undefined);
    set({ edit: undefined });
  };
  const put = (at: number, block: Block): void => setBlocks(blocks.map((old, number) => (number === at ? block : old)));
  const move = (at: number, by: number): void => {
    const next = [...blocks];
    const [block] = next.splice(at, 1);
    next.splice(at + by, 0, block!);
    setBlocks(next);
  };
  return (
    <div class="report">
      <div class="page-head">
        <input class="field report-title grow" aria-label="Title" value={title} onInput={(event) => setTitle(event.currentTarget.value)} />
        <button type="button" class="button" onClick={leave}>{dirty ? "Leave without saving" : "Done"}</button>
        <button type="button" class="button primary" disabled={!dirty || saving} onClick={() => void keep()}>Save</button>
      </div>
      {draft && dirty && <p class="muted small">With what you had written before and not saved.</p>}
      {error && <Notice error={error} />}
      {blocks.map((block, at) => (
        <section class="card block" key={at}>
          <header>
            <span class="muted small grow">{block.kind === "text" ? "Text, in Markdown" : "Comparison"}</span>
            {block.kind === "comparison" && <a class="button plain" href={`/compare?${block.text}`} target="_blank">Open</a>}
            <button type="button" class="button plain" disabled={at === 0} aria-label="up" onClick={() => move(at, -1)}>↑</button>
            <button type="button" class="button plain" disabled={at === blocks.length - 1} aria-label="down" onClick={() => move(at, 1)}>↓</button>
            <button type="button" class="button plain" aria-label="remove this part" onClick={() => setBlocks(blocks.filter((_, number) => number !== at))}>✕</button>
          </header>
          {block.kind === "text" ? (
            <div class="write">
              <textarea class="field" aria-label="Text" rows={Math.max(6, block.text.split("\n").length + 1)} value={block.text} placeholder="# What was found" onInput={(event) => put(at, { kind: "text", text: event.currentTarget.value })} />
              <div class="preview"><Markdown text={block.text} /></div>
            </div>
          ) : <p class="pad small mono">{plural(settingOf(new URLSearchParams(block.text)).runs.length, "run")}, {settingOf(new URLSearchParams(block.text)).show}</p>}
        </section>
      ))}
      <div class="row">
        <button type="button" class="button" onClick={() => setBlocks([...blocks, { kind: "text", text: "" }])}>Add text</button>
        <AddComparison onAdd={(text) => setBlocks([...blocks, { kind: "comparison", text }])} />
      </div>
    </div>
  );
}

function AddComparison({ onAdd }: { onAdd: (query: string) => void }): JSX.Element {
  const [text, setText] = useState("");
  const query = text.includes("?") ? text.slice(text.indexOf("?") + 1) : "";
  const good = settingOf(new URLSearchParams(query)).runs.length > 1;
  return (
    <span class="row">
      <input class="field" aria-label="Address of a comparison" placeholder="address of a comparison" value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="button" class="button" disabled={!good} onClick={() => { onAdd(query); setText(""); }}>Add comparison</button>
    </span>
  );
}

function Removal({ report, onClose }: { report: Report; onClose: () => void }): JSX.Element {
  const remove = async (): Promise<void> => {
    try {
      await post(`/reports/${report.id}/removal`, { base: report.name });
      keepDraft(report, undefined);
      go("reports");
    } catch (error) {
      onClose();
      if (error instanceof ApiError && error.status !== 401) say(error.message, true);
    }
  };
  return (
    <Dialog title="Remove this report?" onClose={onClose} footer={
      <>
        <button type="button" class="button" onClick={onClose} autofocus>Keep it</button>
        <button type="button" class="button danger" onClick={() => void remove()}>Remove</button>
      </>
    }>
      <p>“{report.title}” will not be listed any more. Its files stay in <code>reports/{report.id}</code> of the home.</p>
    </Dialog>
  );
}
