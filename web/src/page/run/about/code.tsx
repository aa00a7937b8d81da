import type { JSX } from "preact";
import { useFetched } from "~/api/fetched";
import { get } from "~/api/client";
import type { Code, CodeText } from "~/api/about";
import type { Run } from "~/api/types";
import { Command, Copy, Empty, Notice, Waiting } from "~/part/parts";
import { Diff, Source } from "~/page/run/about/text";
import { asked, set } from "~/route/router";
import { bytes, count, plural } from "~/text/format";
import { quoted } from "~/text/shell";

const DIFF = "(not committed)";

/** The commit, what was not committed, and every file of the snapshot. */
export function CodeTab({ run }: { run: Run }): JSX.Element {
  const path = `/runs/${encodeURIComponent(run.id)}/code`;
  const code = useFetched(`${run.id} ${run.code}`, (signal) => get<Code>(path, {}, signal));
  const wanted = asked("code-find").toLowerCase();
  if (code.error) return <Notice error={code.error} />;
  if (!code.data) return <Waiting height={360} />;
  const { commit, branch, remote, dirty, diff, files, more, trouble, untracked } = code.data;
  if (!commit && files.length === 0) {
    return <Empty title="No code was kept" command={`paddock run --name ${quoted(run.name)} script.py`}>Code is kept of a script that a worker runs, that <code>paddock run</code> runs, or that calls <code>paddock.init()</code> in a directory of its own.</Empty>;
  }
  const chosen = asked("file") || (diff ? DIFF : code.data.script && files.some((one) => one.path === code.data!.script) ? code.data.script : files[0]?.path ?? "");
  const shown = files.filter((one) => one.path.toLowerCase().includes(wanted));
  return (
    <div class="code">
      <div class="code-head">
        {commit && <span>commit <code title={commit}>{commit.slice(0, 12)}</code> <Copy text={commit} /></span>}
        {branch && <span class="muted">on {branch}</span>}
        {remote && <span class="muted cut">{remote}</span>}
        {dirty && <span class="warn-text">with changes that were not committed</span>}
        <span class="grow" />
        <Command text={`paddock reproduce ${run.id}`} />
      </div>
      {trouble && <Notice error={trouble} warn />}
      <div class="code-body">
        <nav class="code-files card" aria-label="Files of the code">
          <input class="field" type="search" placeholder={`Find in ${count(files.length)} files`} aria-label="Find a file" value={asked("code-find")} onInput={(event) => set({ "code-find": event.currentTarget.value })} />
          <ul>
            {diff && <li><button type="button" aria-current={chosen === DIFF} onClick={() => set({ file: DIFF })}>What was not committed</button></li>}
            {shown.slice(0, 2000).map((one) => (
              <li key={one.path}>
                <button type="button" aria-current={chosen === one.path} title={one.path} onClick={() => set({ file: one.path })}>
                  <span class="cut">{one.path}</span>
                  {untracked.includes(one.path) && <span class="warn-text small" title="not tracked by git">new</span>}
                  <span class="muted small">{one.size === null ? "link" : bytes(one.size)}</span>
                </button>
              </li>
            ))}
          </ul>
          {(more || shown.length > 2000) && <p class="muted small">There are more; find them by their names.</p>}
          {shown.length === 0 && <p class="muted small">{plural(0, "file")} of this name</p>}
        </nav>
        {chosen ? <Shown key={chosen} path={path} file={chosen} /> : <p class="muted">No file was kept.</p>}
      </div>
    </div>
  );
}

function Shown({ path, file }: { path: string; file: string }): JSX.Element {
  const isDiff = file === DIFF;
  const text = useFetched(`${path} ${file}`, (signal) => get<CodeText>(isDiff ? `${path}/diff` : `${path}/file`, isDiff ? {} : { path: file }, signal));
  if (text.error) return <Notice error={text.error} />;
  if (!text.data) return <div class="card"><Waiting height={300} /></div>;
  const { text: said, size, cut } = text.data;
  return (
    <section class="card code-text">
      <header>
        <h2 class="grow cut mono">{isDiff ? "What was not committed" : file}</h2>
        <span class="muted small">{bytes(size)}</span>
        {said !== null && <Copy text={said} />}
      </header>
      {said === null ? <p class="none muted">This is no text.</p> : isDiff ? <Diff text={said} /> : <Source text={said} />}
      {cut && <p class="muted small none">The rest is not shown.</p>}
    </section>
  );
}
