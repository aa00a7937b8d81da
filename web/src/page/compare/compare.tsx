import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { runsNamed } from "~/api/board";
import { useFetched } from "~/api/fetched";
import type { Run } from "~/api/types";
import { Controls, viewOf } from "~/chart/view";
import { Menu } from "~/part/menu";
import { Choice, Empty, Notice, StateMark, Waiting } from "~/part/parts";
import { Comparison, materialOf, type Material } from "~/page/compare/comparison";
import { SaveDialog } from "~/page/compare/save";
import { settingOf, SHOWN } from "~/page/compare/setting";
import { isEpoch } from "~/page/run/chart/groups";
import { MOST_COMPARED, selected } from "~/page/runs/selection";
import { usePaced } from "~/page/runs/rows";
import { here, set } from "~/route/router";
import { plural } from "~/text/format";
import { quoted } from "~/text/shell";

export default function Compare(): JSX.Element {
  const query = here.value.query;
  const setting = settingOf(query);
  const found = useFetched(setting.runs.join(), (signal) => runsNamed(setting.runs, signal));
  usePaced(() => found.data?.some((run) => run.state === "running") && found.again());
  if (setting.runs.length < 2) {
    const waiting = [...new Set([...setting.runs, ...selected.value])].slice(0, MOST_COMPARED);
    return (
      <div class="card">
        {setting.runs.length === 1 ? (
          <Empty title="With which runs?" command={`paddock compare ${quoted(setting.runs[0]!)} RUN`}>
            Select others in the <a href="/runs" onClick={() => (selected.value = waiting)}>list</a>, where this one is selected already, and press <kbd>c</kbd>. In the terminal:
          </Empty>
        ) : (
          <Empty title="Nothing is compared yet" command="paddock compare RUN RUN">
            Select two runs or more in the <a href="/runs">list</a> and press <kbd>c</kbd>. In the terminal:
          </Empty>
        )}
        {waiting.length > 1 && <p class="compare-waiting"><button type="button" class="button primary" onClick={() => set({ run: waiting }, true)}>Compare the {waiting.length} selected runs</button></p>}
      </div>
    );
  }
  if (found.error && !found.data) return <Notice error={found.error} />;
  if (!found.data) return <Waiting height={420} />;
  if (found.data.length < 2) return <Empty title="These runs are not there any more" command="paddock ls">{found.data.length === 0 ? "None" : "Only 1"} of the {setting.runs.length} was found in the homes of this server.</Empty>;
  return <Compared runs={found.data} query={query} />;
}

function Compared({ runs, query }: { runs: readonly Run[]; query: URLSearchParams }): JSX.Element {
  const material = useMemo(() => materialOf(query, runs), [query, runs]);
  const [saving, setSaving] = useState(false);
  const { setting, folded } = material;
  const curves = setting.show === "curves";
  const named = new Set(query.getAll("run").flatMap((item) => item.split(","))).size;
  return (
    <div class="compare-page">
      <div class="page-head">
        <h1>Compare</h1>
        <RunMenu runs={runs} />
        <span class="grow" />
        <button type="button" class="button" onClick={() => setSaving(true)}>Put into a report</button>
      </div>
      <nav class="sub-tabs" aria-label="What is compared">
        {SHOWN.map(([name, title]) => <button type="button" key={name} aria-pressed={setting.show === name} onClick={() => set({ show: name === "curves" ? undefined : name }, true)}>{title}</button>)}
      </nav>
      {setting.show !== "differences" && (
        <div class="controls compare-controls">
          {setting.show !== "scatter" && <MetricMenu material={material} />}
          {material.canFold && setting.show !== "scatter" && setting.show !== "parallel" && (
            <Choice label="seeds" value={folded ? "1" : "0"} options={[["1", "mean ± std over seeds"], ["0", "every run"]]} onChoose={(next) => set({ fold: next })} />
          )}
          {(curves || setting.show === "scatter") && <FacetMenus material={material} all={curves} />}
          {curves && <Controls view={viewOf(query)} epoch={material.every.some(isEpoch)} />}
        </div>
      )}
      {named > MOST_COMPARED && <p class="muted small">The first {MOST_COMPARED} of the {named} runs that the address names.</p>}
      <Comparison query={query} runs={runs} onChange={set} />
      {saving && <SaveDialog query={query} onClose={() => setSaving(false)} />}
    </div>
  );
}

function RunMenu({ runs }: { runs: readonly Run[] }): JSX.Element {
  const without = (id: string): string[] => runs.filter((run) => run.id !== id).map((run) => run.id);
  return (
    <Menu label={`${plural(runs.length, "run")} ▾`}>
      {() => (
        <>
          {runs.map((run) => (
            <div class="item" key={run.id}>
              <span class="grow cut"><a href={`/runs/${encodeURIComponent(run.id)}`}>{run.name || run.id}</a></span>
              <StateMark state={run.state} />
              <button type="button" class="button plain" disabled={runs.length <= 2} aria-label={`leave out ${run.name || run.id}`} onClick={() => set({ run: without(run.id) }, true)}>✕</button>
            </div>
          ))}
          <div class="panel-foot"><a class="button plain" href="/runs" onClick={() => (selected.value = runs.map((run) => run.id))}>Choose others in the list</a></div>
        </>
      )}
    </Menu>
  );
}

function MetricMenu({ material }: { material: Material }): JSX.Element {
  const { metrics, every, setting } = material;
  const one = setting.show === "parallel";
  const flip = (name: string): void => {
    if (one) set({ metric: [name] });
    else set({ metric: metrics.includes(name) ? metrics.filter((other) => other !== name) : [...metrics, name] });
  };
  return (
    <Menu label={one ? `To ${metrics[0] ?? "–"} ▾` : `${plural(metrics.length, "metric")} ▾`} title={metrics.join(", ")}>
      {() => every.map((name) => (
        <button type="button" class="item" aria-pressed={one ? metrics[0] === name : metrics.includes(name)} key={name} onClick={() => flip(name)}>
          <span class="tick">{(one ? metrics[0] === name : metrics.includes(name)) ? "✓" : ""}</span><span class="grow cut">{name}</span>
        </button>
      ))}
    </Menu>
  );
}

const SIDES = [["hue", "colour"], ["dash", "dash"], ["row", "rows"], ["col", "columns"]] as const;

function FacetMenus({ material, all }: { material: Material; all: boolean }): JSX.Element {
  const { properties, setting, folded } = material;
  const offered = properties.filter((one) => !(folded && (one.seed || !one.key.startsWith("config."))));
  return (
    <>
      {SIDES.filter(([side]) => all || side === "hue").map(([side, title]) => (
        <label key={side}>{title}
          <select class="field" value={setting[side]} onChange={(event) => set({ [side]: event.currentTarget.value })}>
            <option value="">{side === "hue" && all ? "each its own" : "–"}</option>
            {offered.map((one) => <option key={one.key} value={one.key}>{one.title}</option>)}
          </select>
        </label>
      ))}
    </>
  );
}
