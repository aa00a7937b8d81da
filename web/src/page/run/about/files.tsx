import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { useFetched } from "~/api/fetched";
import { address, get } from "~/api/client";
import type { Files } from "~/api/about";
import type { Detail } from "~/api/types";
import { Empty, Notice, Waiting } from "~/part/parts";
import { Dialog } from "~/part/dialog";
import { TableStrip } from "~/page/run/about/tables";
import { series, type Picture } from "~/page/run/about/pictures";
import { useShown } from "~/page/run/about/shown";
import { asked, set } from "~/route/router";
import { bytes, cell, clock, count, plural } from "~/text/format";

const PAGE = 500;

/** Pictures by their names over the steps, and every file that was kept with the run. */
export function FilesTab({ detail }: { detail: Detail }): JSX.Element {
  const { run, records } = detail;
  const files = useFetched(`${run.id} ${records["file"]?.length} ${records["image"]?.length} ${records["table"]?.length}`, (signal) => get<Files>(`/runs/${encodeURIComponent(run.id)}/files`, {}, signal));
  const wanted = asked("file-find").toLowerCase();
  const [most, setMost] = useState(PAGE);
  if (files.error) return <Notice error={files.error} />;
  if (!files.data) return <Waiting height={300} />;
  const all = files.data.files;
  const where = (id: string): string => address(`/runs/${encodeURIComponent(run.id)}/files/${id}`);
  const pictures = series(records["image"] ?? [], all);
  const tables = series(records["table"] ?? [], all);
  const shown = all.filter((file) => file.path.toLowerCase().includes(wanted));
  if (all.length === 0) {
    return <Empty title="No files" command={'run.save("model.pt")'}>What a script saves, and the pictures and tables that it logs with <code>paddock.Image</code> and <code>paddock.Table</code>, are here.</Empty>;
  }
  return (
    <div class="files">
      {pictures.map((one) => <Strip key={one.name} name={one.name} pictures={one.pictures} where={where} />)}
      {tables.map((one) => <TableStrip key={one.name} name={one.name} tables={one.pictures} where={where} />)}
      <section class="card files-list">
        <header>
          <h2 class="grow">{plural(all.length, "file")}</h2>
          <input class="field" type="search" placeholder="Find a file" aria-label="Find a file" value={asked("file-find")} onInput={(event) => set({ "file-find": event.currentTarget.value })} />
        </header>
        <div class="scroll" tabIndex={0} role="region" aria-label="files">
          <table class="grid-table">
            <thead><tr><th>path</th><th class="number">size</th><th class="wide-only">modified</th></tr></thead>
            <tbody>
              {shown.slice(0, most).map((file) => (
                <tr key={file.id}>
                  <td><a href={where(file.id)} download={file.path.split("/").at(-1)}>{file.path}</a></td>
                  <td class="number">{bytes(file.size)}</td>
                  <td class="wide-only muted">{clock(file.modified)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {shown.length > most && <p class="none"><button type="button" class="button" onClick={() => setMost(most + PAGE)}>{count(shown.length - most)} more</button></p>}
        {files.data.more && <p class="muted small none">There are others, which the server does not list.</p>}
      </section>
    </div>
  );
}

/** The pictures of one name: the last one, and a slider over the steps. */
function Strip({ name, pictures, where }: { name: string; pictures: readonly Picture[]; where: (id: string) => string }): JSX.Element {
  const [index, show] = useShown(pictures);
  const [large, setLarge] = useState(false);
  const picture = pictures[index]!;
  return (
    <section class="card strip">
      <header>
        <h2 class="grow cut">{name}</h2>
        <span class="muted small">step {cell(picture.step)}</span>
      </header>
      <button type="button" class="picture" aria-label={`${name} of step ${cell(picture.step)}, larger`} onClick={() => setLarge(true)}>
        <img src={where(picture.file.id)} alt={picture.caption || `${name} of step ${cell(picture.step)}`} loading="lazy" />
      </button>
      {picture.caption && <p class="small none">{picture.caption}</p>}
      {pictures.length > 1 && <input type="range" min={0} max={pictures.length - 1} value={index} aria-label={`${name}: which of ${pictures.length}`} onInput={(event) => show(Number(event.currentTarget.value))} />}
      {large && (
        <Dialog title={`${name}, step ${cell(picture.step)}`} wide onClose={() => setLarge(false)}>
          <img class="whole" src={where(picture.file.id)} alt={picture.caption || name} />
        </Dialog>
      )}
    </section>
  );
}

