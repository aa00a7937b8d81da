import type { JSX } from "preact";
import type { Host, NowWorker } from "~/api/now";
import { bytes, duration, number, plural } from "~/text/format";

/** The machines, how busy they are, and who works there. */
export function Hosts({ hosts, workers }: { hosts: readonly Host[]; workers: readonly NowWorker[] }): JSX.Element | null {
  if (hosts.length === 0) return null;
  return (
    <section class="card" aria-labelledby="hosts">
      <header><h2 id="hosts">Hosts</h2></header>
      <ul class="hosts">{hosts.map((host) => <HostRow key={host.name} host={host} workers={workers.filter((one) => one.host === host.name)} />)}</ul>
    </section>
  );
}

function HostRow({ host, workers }: { host: Host; workers: readonly NowWorker[] }): JSX.Element {
  return (
    <li>
      <div class="row">
        <b class="cut">{host.name}</b>
        <span class="muted small">{[host.here ? "this machine" : "", host.runs > 0 ? plural(host.runs, "run") : ""].filter(Boolean).join(", ")}</span>
      </div>
      <Load label="CPU" share={host.cpu} text={host.cpu === null ? "not known" : `${number(host.cpu * (host.cpus ?? 1), 2)} of ${host.cpus ?? "?"} cores`} />
      <Load label="Memory" share={host.memory !== null && host.memory_total ? host.memory / host.memory_total : null} text={host.memory === null ? "not known" : `${bytes(host.memory)} of ${bytes(host.memory_total ?? 0)}`} />
      {host.gpus.map((gpu) => (
        <Load key={gpu.index} label={`GPU ${gpu.index}`} title={gpu.name} share={gpu.use} text={`${gpu.use === null ? "?" : Math.round(gpu.use * 100)} %${gpu.memory !== null ? `, ${bytes(gpu.memory)}${gpu.memory_total ? ` of ${bytes(gpu.memory_total)}` : ""}` : ""}`} />
      ))}
      {workers.map((worker) => <WorkerRow key={worker.name} worker={worker} />)}
    </li>
  );
}

export function WorkerRow({ worker }: { worker: NowWorker }): JSX.Element {
  const silent = worker.state !== "alive";
  return (
    <div class="small worker-row">
      <span class={silent ? "warn-text" : "muted"}>worker {worker.pid} of <a href={`/queue/${encodeURIComponent(worker.queue)}`}>{worker.queue}</a></span>
      <span class={silent ? "warn-text" : "muted"}>{silent ? `${worker.state} for ${duration(worker.silence)}` : `${worker.busy} of ${worker.slots} busy`}{worker.gpus.length > 0 && `, GPU ${worker.gpus.join(", ")}`}</span>
    </div>
  );
}

function Load({ label, share, text, title }: { label: string; share: number | null; text: string; title?: string }): JSX.Element {
  return (
    <div class="load" title={title}>
      <span class="muted small">{label}</span>
      <i aria-hidden="true"><b style={{ transform: `scaleX(${Math.max(0, Math.min(1, share ?? 0))})` }} class={share !== null && share > 0.9 ? "hot" : undefined} /></i>
      <span class="small number">{text}</span>
    </div>
  );
}
