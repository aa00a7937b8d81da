import type { JSX } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type { Evaluations } from "~/api/about";
import type { Stat } from "~/api/types";
import { counted, kindOf, places, between, stepsWithin, type Raw } from "~/chart/axis";
import { color } from "~/chart/colors";
import type { Line } from "~/chart/line";
import { Plot } from "~/chart/plot";
import { ema, spacingOf } from "~/chart/smooth";
import { setZoom, type View } from "~/chart/view";
import { Waiting } from "~/part/parts";
import type { Curves } from "~/page/run/chart/curves";
import { epochOf, marksOn, scoreOf } from "~/page/run/chart/groups";
import { logged, scored, type Scored } from "~/page/run/chart/scores";
import { useSight } from "~/page/run/chart/sight";
import { dark } from "~/shell/theme";
import { last, number } from "~/text/format";

const HEIGHT = 190;
const TALL = 440;

export interface CardProps {
  metric: string;
  metrics: readonly string[];
  stat: Stat | undefined;
  curves: Curves;
  view: View;
  /** When the run began. */
  began: number;
  evaluations: Evaluations | undefined;
  large?: boolean;
  onSeen: (metric: string, seen: boolean) => void;
  onLarge: (metric: string) => void;
}

/** One chart of a run: the curve, and the scores of its checkpoints. */
export function Card(props: CardProps): JSX.Element {
  const { metric, stat, view, large, onSeen, onLarge } = props;
  const [element, seen] = useSight<HTMLElement>();
  useEffect(() => {
    onSeen(metric, seen);
    return () => onSeen(metric, false);
  }, [metric, seen]);
  const { evaluations } = props;
  const scores = useMemo(() => marksOn(metric, props.metrics, evaluations?.evaluations), [metric, props.metrics, evaluations]);
  const title = metric.slice(metric.lastIndexOf("/") + 1);
  const height = large ? TALL : HEIGHT;
  return (
    <article class={`chart-card${large ? " large" : ""}`} ref={element}>
      <header>
        {large ? <h2 class="cut">{metric}</h2> : <h3 class="cut" title={metric}>{title}</h3>}
        {stat && <span class="muted small" title={`step ${stat.last_step}; ${stat.count} points; min ${number(stat.min)}, max ${number(stat.max)}`}>{last(stat)}</span>}
        {scores.map((score, at) => <span key={score.metric} class="score-key" title={`${score.metric}: scores of checkpoints`}><i style={{ background: color(at + 1, dark.value) }} /><span class="cut">{score.evaluator}</span></span>)}
        <button type="button" class="button plain" aria-label={large ? `${metric}: back to all charts` : `${metric}: larger`} title={large ? "Back (Escape)" : "Larger"} onClick={() => onLarge(large ? "" : metric)}>{large ? "✕" : "⤢"}</button>
      </header>
      <div style={{ height: `${height}px` }}>{seen && <Drawn {...props} height={height} view={view} />}</div>
    </article>
  );
}

function Drawn({ metric, metrics, curves, view, began, evaluations, height }: CardProps & { height: number }): JSX.Element {
  const curve = curves.of(metric).value;
  const own = scoreOf(metric);
  const scores = useMemo(() => (own ? [own] : marksOn(metric, metrics, evaluations?.evaluations)), [metric, metrics, evaluations]);
  // Without a ledger of evaluations the scores are what was logged.
  const beside = evaluations && evaluations.evaluations.length > 0 ? [] : scores.filter((score) => score.metric !== metric).map((score) => score.metric);
  const epoch = epochOf(metrics, metric);
  const epochs = epoch === undefined ? undefined : curves.of(epoch).value.whole;
  const needsEpochs = view.axis === "epoch" && epoch !== undefined;
  const whole = curve.whole;
  const wholeX = useMemo(() => whole && places(whole, view.axis, began, epochs), [whole, view.axis, began, epochs]);
  const range = view.zoom && whole && wholeX && whole.count > whole.steps.length ? stepsWithin(whole, wholeX, view.zoom) : undefined;
  useEffect(() => {
    curves.want(metric);
    if (needsEpochs) curves.want(epoch);
    for (const name of beside) curves.want(name);
  }, [metric, curves, needsEpochs, beside.join("\n")]);
  useEffect(() => {
    if (range) curves.want(metric, range);
  }, [range?.[0], range?.[1]]);
  const isDark = dark.value;
  const others = beside.map((name) => curves.of(name).value.whole);
  const lines = useMemo(() => {
    if (!whole || !wholeX) return [];
    const part = range && curve.part && covers(curve.part.range, range) ? curve.part.raw : undefined;
    const found: Line[] = [];
    const dotted = own && evaluations && evaluations.evaluations.length > 0;
    if (!dotted) found.push(drawn(part ?? whole, part ? places(part, view.axis, began, epochs) : wholeX, view.smooth, metric, isDark));
    scores.forEach((score, at) => {
      const place = placing(whole, view.axis, began, epochs);
      const spots = beside.includes(score.metric)
        ? others[beside.indexOf(score.metric)] && logged(others[beside.indexOf(score.metric)]!, view.axis, began, epochs)
        : evaluations && scored(evaluations.evaluations, score, evaluations.best, own ? undefined : whole, place);
      if (spots && spots.x.length > 0) found.push(dots(spots, score.metric, own ? 0 : at + 1, isDark));
    });
    if (dotted) found.unshift({ ...drawn(whole, wholeX, 0, metric, isDark), width: 1 });
    return found;
  }, [whole, wholeX, curve.part, view.axis, view.smooth, isDark, evaluations, epochs, ...others]);
  if (!whole) return <Waiting height={height} />;
  if (view.axis === "epoch" && !needsEpochs) return <p class="muted small none">This run has logged no metric `epoch`.</p>;
  return <Plot lines={lines} height={height} title={metric} kind={kindOf(view.axis)} {...counted(view.axis)} logX={view.logX} logY={view.logY} zoom={view.zoom} onZoom={setZoom} sync="run" />;
}

const covers = (have: readonly [number, number], want: readonly [number, number]): boolean => have[0] <= Math.floor(want[0]) && have[1] >= Math.ceil(want[1]);

function drawn(raw: Raw, x: readonly number[], smooth: number, metric: string, isDark: boolean): Line {
  const y = smooth > 0 ? ema(raw.values, smooth, raw.steps, spacingOf(raw.steps, raw.count)) : raw.values;
  return { key: metric, label: metric, color: color(0, isDark), x, y, ...(smooth > 0 ? { raw: raw.values } : {}) };
}

function dots(spots: Scored, metric: string, at: number, isDark: boolean): Line {
  return { key: `${metric} scores`, label: metric, color: color(at === 0 ? 4 : at, isDark), x: spots.x, y: spots.y, dots: spots.dots };
}

/** Where a step of a checkpoint is on the axis: at its step, however late its score came. */
function placing(whole: Raw, axis: View["axis"], began: number, epochs: Raw | undefined): (step: number, time: number | null) => number {
  if (axis === "step") return (step) => step;
  if (axis === "epoch") return (step) => (epochs && epochs.steps.length > 0 ? between(epochs, step) : NaN);
  const times: Raw = { steps: whole.steps, values: whole.times ?? [], count: whole.count };
  if (times.values.length === 0) return () => NaN;
  return (step) => between(times, step) - (axis === "time" ? began : 0);
}
