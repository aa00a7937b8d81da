import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { Run } from "~/api/types";
import { color } from "~/chart/colors";
import { Legend } from "~/chart/legend";
import type { Line } from "~/chart/line";
import { Plot } from "~/chart/plot";
import { SvgChart } from "~/chart/svg";
import { brief, distinct, identity, type Property } from "~/page/compare/properties";
import { isWide, ofMetric, ofProperty, type Quantity } from "~/page/compare/quantities";
import { STATS } from "~/page/compare/results";
import type { Change } from "~/page/compare/setting";
import { go } from "~/route/router";
import { dark } from "~/shell/theme";
import { number } from "~/text/format";

/** Everything that can be put on an axis. */
export function quantities(runs: readonly Run[], properties: readonly Property[], metrics: readonly string[]): Quantity[] {
  return [...properties.map(ofProperty), ...metrics.flatMap((metric) => STATS.map((stat) => ofMetric(runs, metric, stat)))];
}

/** Each run as a point: a property or a result over another. */
export function Scatter({ runs, properties, metrics, sx, sy, hue, logX, logY, onChange, still = false }: {
  runs: readonly Run[]; properties: readonly Property[]; metrics: readonly string[]; sx: string; sy: string; hue: string; logX: boolean; logY: boolean; onChange?: Change;
  /** A picture, for reports that leave the server. */
  still?: boolean;
}): JSX.Element {
  const all = useMemo(() => quantities(runs, properties, metrics), [runs, properties, metrics.join("\n")]);
  const x = all.find((one) => one.key === sx) ?? all.find((one) => !one.names && !properties.some((other) => other.key === one.key && other.seed)) ?? all[0];
  const y = all.find((one) => one.key === sy) ?? all.find((one) => one.key === `best.${metrics[0]}`) ?? all.at(-1);
  const by = properties.find((one) => one.key === hue);
  const isDark = !still && dark.value;
  if (!x || !y) return <p class="muted">There is nothing to put on the axes: these runs do not differ and have no metric.</p>;
  const kinds = by ? distinct(by.values) : [];
  const hues = kinds.map(identity);
  const lines: Line[] = runs.flatMap((run, at) => {
    const [px, py] = [x.values[at]!, y.values[at]!];
    if (!Number.isFinite(px) || !Number.isFinite(py)) return [];
    return [{ key: run.id, label: run.name || run.id, color: color(by ? hues.indexOf(identity(by.values[at])) : 0, isDark), x: [px], y: [py], dots: [{ text: `${x.title} ${text(x, px)}` }] }];
  });
  const options = all.map((one) => <option key={one.key} value={one.key}>{one.title}</option>);
  const drawn = {
    title: `${y.title} over ${x.title}`, lines, air: true, logX: !x.names && (logX || isWide(x)), logY: !y.names && logY,
    ...(x.names ? { xLabel: (value: number) => names(x, value) } : {}),
    ...(y.names ? { yLabel: (value: number) => names(y, value) } : {}),
  };
  return (
    <section class="card pad-box">
      {onChange && (
        <div class="controls">
          <label>x <select class="field" value={x.key} onChange={(event) => onChange({ sx: event.currentTarget.value })}>{options}</select></label>
          <label>y <select class="field" value={y.key} onChange={(event) => onChange({ sy: event.currentTarget.value })}>{options}</select></label>
          <span class="muted small">{lines.length} of {runs.length} runs have both</span>
        </div>
      )}
      <p class="axis-name">{y.title} ↑ over {x.title} →</p>
      {still ? <SvgChart {...drawn} /> : <Plot {...drawn} height={420} names={`${x.names ? "x" : ""}${y.names ? "y" : ""}`} onPick={(key) => go("run", key)} />}
      {by && still && <ul class="legend">{brief(kinds).map((text, at) => <li key={text}><i style={{ background: color(at, false) }} />{by.title} = {text}</li>)}</ul>}
      {by && !still && <Legend entries={brief(kinds).map((text, at) => ({ key: text, label: `${by.title} = ${text}`, color: color(at, isDark) }))} />}
    </section>
  );
}

const names = (quantity: Quantity, value: number): string => (Number.isInteger(value) ? quantity.names![value] ?? "" : "");
const text = (quantity: Quantity, value: number): string => (quantity.names ? names(quantity, value) : number(value));
