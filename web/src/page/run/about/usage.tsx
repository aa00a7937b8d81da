import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { useFetched } from "~/api/fetched";
import { get } from "~/api/client";
import type { Usage } from "~/api/about";
import type { Run } from "~/api/types";
import type { Bar } from "~/chart/draw";
import { color } from "~/chart/colors";
import { Legend } from "~/chart/legend";
import type { Range } from "~/chart/line";
import { Plot } from "~/chart/plot";
import { setZoom, useView } from "~/chart/view";
import { Choice, Empty, Notice, Waiting } from "~/part/parts";
import { stacked } from "~/page/run/about/stack";
import { asked, set } from "~/route/router";
import { dark } from "~/shell/theme";
import { bytes, number } from "~/text/format";

const TITLES: Record<string, string> = {
  cpu: "Processor (cores)", memory: "Memory", gpu: "GPU (of one)", "gpu-memory": "GPU memory", read: "Read a second", write: "Written a second", threads: "Threads",
};
const LABELS: Record<string, (value: number) => string> = {
  cpu: (value) => number(value / 100, 3), gpu: (value) => number(value / 100, 3), memory: bytes, "gpu-memory": bytes, read: bytes, write: bytes,
};
const AGAIN_MS = 5000;
const MOST_BINS = 600;

/** What the processes of a run used, on top of each other, with the checkpoints of the script as bars. */
export function UsageTab({ run }: { run: Run }): JSX.Element {
  // Not more bins than there are samples, which are a second apart: else there are holes between them.
  const lasted = (run.ended ?? run.seen) - (run.started ?? run.created);
  const points = Math.round(Math.min(MOST_BINS, Math.max(10, lasted)));
  const usage = useFetched(run.id, (signal) => get<Usage>(`/runs/${encodeURIComponent(run.id)}/usage`, { points }, signal));
  const live = run.state === "running";
  useEffect(() => {
    if (!live) return;
    const timer = setInterval(usage.again, AGAIN_MS);
    return () => clearInterval(timer);
  }, [live]);
  if (usage.error) return <Notice error={usage.error} />;
  if (!usage.data) return <Waiting height={400} />;
  if (usage.data.processes.length === 0) {
    return <Empty title="Nothing was sampled" command="paddock run --usage script.py">Processor, memory and GPU of each process are sampled when they are asked for, here or by <code>Usage.checkpoint("load")</code> in the script.</Empty>;
  }
  return <Areas usage={usage.data} />;
}

function Areas({ usage }: { usage: Usage }): JSX.Element {
  const view = useView();
  const [focus, setFocus] = useState("");
  const clockwise = asked("usage-x") === "clock";
  const isDark = dark.value;
  const origin = clockwise ? 0 : usage.begin;
  const metrics = [...new Set(usage.processes.flatMap((one) => Object.keys(one.series)))].filter((metric) => usage.processes.some((one) => (one.series[metric] ?? []).some((value) => value)));
  const drawn = useMemo(
    () => metrics.map((metric) => ({ metric, lines: stacked(usage.processes, metric, usage.begin, usage.width, origin, (at) => color(at, isDark)) })),
    [usage, origin, isDark],
  );
  const bars: Bar[] = useMemo(
    () => usage.checkpoints.map((one) => ({ x: one.time - origin, label: one.times > 1 ? `${one.text} ×${one.times}` : one.text, color: isDark ? "#e4ebe7" : "#17211c" })),
    [usage, origin, isDark],
  );
  const colors = new Map(drawn.flatMap(({ lines }) => lines.map((line) => [line.key, line.color] as const)).reverse());
  return (
    <div class="usage">
      <div class="log-bar">
        <Choice label="x axis" value={clockwise ? "clock" : "time"} options={[["time", "time"], ["clock", "clock"]]} onChoose={(value) => { set({ "usage-x": value === "clock" ? value : undefined, zoom: undefined }); }} />
        <button type="button" class="button" disabled={!view.zoom} onClick={() => setZoom(undefined)}>Reset zoom</button>
        {usage.damaged > 0 && <span class="warn-text small">{usage.damaged} samples could not be read</span>}
      </div>
      {drawn.map(({ metric, lines }) => (
        <article class="chart-card" key={metric}>
          <header><h2>{TITLES[metric] ?? metric}</h2></header>
          <Plot lines={lines} bars={bars} height={210} title={TITLES[metric] ?? metric} kind={clockwise ? "moment" : "seconds"} yFrom={0} zoom={view.zoom} onZoom={(zoom: Range | undefined) => setZoom(zoom)} sync="usage" focus={focus} {...(LABELS[metric] ? { yLabel: LABELS[metric] } : {})} />
          <Legend entries={lines.map((line) => ({ key: line.key, label: line.label, color: colors.get(line.key) ?? line.color }))} onFocus={setFocus} />
        </article>
      ))}
      <div class="card scroll" tabIndex={0} role="region" aria-label="means and peaks">
        <table class="grid-table">
          <thead><tr><th>process</th>{metrics.map((metric) => [<th class="number" key={metric}>{metric}, mean</th>, <th class="number" key={`${metric} `}>most</th>])}</tr></thead>
          <tbody>
            {usage.processes.map((one) => (
              <tr key={one.label}>
                <td>{one.label}</td>
                {metrics.map((metric) => [<td class="number" key={metric}>{told(metric, one.mean[metric])}</td>, <td class="number" key={`${metric} `}>{told(metric, one.most[metric])}</td>])}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function told(metric: string, value: number | undefined): string {
  return value === undefined ? "" : (LABELS[metric] ?? ((one: number) => number(one, 3)))(value);
}
