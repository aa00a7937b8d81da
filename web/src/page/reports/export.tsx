import { render, type JSX } from "preact";
import { runsNamed, type Band, type Report } from "~/api/board";
import { get } from "~/api/client";
import { color, DASHES } from "~/chart/colors";
import type { Line } from "~/chart/line";
import { fetchAll } from "~/chart/series";
import { SvgChart } from "~/chart/svg";
import { viewOf, type View } from "~/chart/view";
import { Markdown } from "~/part/markdown";
import { materialOf, type Material } from "~/page/compare/comparison";
import { Differed, wholeDiff } from "~/page/compare/differences";
import { layout } from "~/page/compare/facets";
import { bandLine, courseLines, coursesOf, label, placedLines } from "~/page/compare/lines";
import { Parallel } from "~/page/compare/parallel";
import { ResultGrid, resultTable } from "~/page/compare/resulttable";
import { Scatter } from "~/page/compare/scatter";
import { settingOf } from "~/page/compare/setting";
import { epochOf } from "~/page/run/chart/groups";
import { clock } from "~/text/format";
import style from "~/page/reports/export.css?raw";

const WIDTH = 820; // px of a page of it
const NARROWEST = 240; // px of one of several panels

/** The report as one file: prose, curves as pictures, tables. It holds no script and asks nobody for anything. */
export async function download(report: Report): Promise<void> {
  const parts = await Promise.all(report.blocks.map((block) => (block.kind === "text" ? Promise.resolve(<Markdown text={block.text} />) : saved(block.text))));
  const page = document.implementation.createHTMLDocument(report.title);
  page.documentElement.lang = "en";
  const meta = page.createElement("meta");
  meta.setAttribute("charset", "utf-8");
  const policy = page.createElement("meta");
  policy.setAttribute("http-equiv", "Content-Security-Policy");
  policy.setAttribute("content", "default-src 'none'; style-src 'unsafe-inline'; img-src data:");
  page.head.prepend(meta, policy);
  render(
    <main>
      <h1>{report.title}</h1>
      <p class="muted">{clock(report.saved)}{report.user && `, ${report.user}`}</p>
      {parts}
    </main>,
    page.body,
  );
  // As text: our own policy would not let this page have a style sheet inside.
  const text = page.documentElement.outerHTML.replace("</head>", () => `<style>${style}</style></head>`);
  const file = new Blob(["<!doctype html>\n", text], { type: "text/html" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = `${report.title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "report"}.html`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function saved(text: string): Promise<JSX.Element> {
  const query = new URLSearchParams(text);
  const runs = await runsNamed(settingOf(query).runs);
  if (runs.length === 0) return <p class="muted">The runs of this comparison are gone.</p>;
  const material = materialOf(query, runs);
  const { properties, teams, metrics, stats, folded, setting } = material;
  const table = resultTable(runs, teams, properties, metrics, stats, folded);
  return (
    <section>
      {await shownOf(query, material)}
      {setting.show !== "differences" && <div class="scroll" tabIndex={0} role="region" aria-label="Results"><ResultGrid table={table} /></div>}
      <p class="muted">{runs.map((run) => `${run.name || run.id} (${run.id})`).join(", ")}</p>
    </section>
  );
}

/** The comparison as it is seen on the board, as a picture. */
async function shownOf(query: URLSearchParams, material: Material): Promise<JSX.Element | JSX.Element[] | null> {
  const { runs, properties, metrics, setting } = material;
  const { logX, logY } = viewOf(query);
  switch (setting.show) {
    case "differences":
      return <Differed runs={runs} every={setting.every} found={await wholeDiff(runs.map((run) => run.id), setting.every)} />;
    case "scatter":
      return <Scatter runs={runs} properties={properties} metrics={material.every} sx={setting.sx} sy={setting.sy} hue={setting.hue} logX={logX} logY={logY} still />;
    case "parallel":
      return <Parallel runs={runs} properties={properties} metric={metrics[0] ?? ""} picks={setting.picks} still={WIDTH} />;
    case "results":
      return null;
    default:
      return Promise.all(metrics.map((metric) => pictures(query, material, metric)));
  }
}

async function pictures(query: URLSearchParams, material: Material, metric: string): Promise<JSX.Element> {
  const view = viewOf(query);
  const { teams, properties, setting } = material;
  const lines = await linesOf(material, metric, view);
  const found = layout(teams, properties, setting);
  const columns = Math.max(1, found.cols.length);
  const many = found.panels.length > 1;
  const among = many ? [...lines.values()] : undefined; // one scale for all, as on the board
  const width = many ? Math.max(NARROWEST, Math.floor(WIDTH / columns)) : WIDTH;
  const entries = found.hues.length > 0 ? found.hues : teams.slice(0, 40).map(label);
  return (
    <section>
      <h2>{metric}</h2>
      <div class="panels" tabIndex={many ? 0 : undefined} role="group" aria-label={`${metric}, panels`} style={{ gridTemplateColumns: `repeat(${columns}, minmax(${many ? NARROWEST : 0}px, 1fr))` }}>
        {found.panels.map((panel) => (
          <figure key={`${panel.row}|${panel.col}`}>
            {(panel.row || panel.col) && <figcaption>{[panel.row, panel.col].filter(Boolean).join(", ")}</figcaption>}
            <SvgChart title={`${metric} ${panel.row} ${panel.col}`} lines={placedLines(panel.teams, lines, false)} among={among} width={width} height={many ? 220 : 300} logX={view.logX} logY={view.logY} seconds={view.axis === "time"} moments={view.axis === "wall"} zoom={view.zoom} />
          </figure>
        ))}
      </div>
      <ul class="legend">{entries.map((text, at) => <li key={text}><i style={{ background: color(at, false) }} />{text}</li>)}{found.dashes.map((text, at) => <li key={`dash ${at}`}><svg width="28" height="8" aria-hidden="true"><line x1="0" x2="28" y1="4" y2="4" stroke="#55625b" stroke-width="2" stroke-dasharray={DASHES[at % DASHES.length]!.join(" ") || undefined} /></svg>{` ${text}`}</li>)}</ul>
    </section>
  );
}

async function linesOf({ runs, teams, folded }: Material, metric: string, { axis, smooth, zoom }: View): Promise<Map<string, Line>> {
  // What is zoomed into is fetched in all its points, as on the board. Smoothing needs what came before it.
  const within = zoom && axis === "step" && smooth === 0 ? { first: Math.floor(zoom[0]), last: Math.ceil(zoom[1]) } : {};
  if (folded && axis === "step") {
    const group = teams.map((team) => team.members.map((at) => runs[at]!.id).join(","));
    const { bands } = await get<{ bands: Band[] }>("/bands", { metric, group, points: 400, ...within });
    return new Map(teams.flatMap((team, at) => (bands[at]?.steps.length ? [[team.key, bandLine(team, bands[at]!, smooth)] as const] : [])));
  }
  const having = runs.filter((run) => run.metrics[metric]);
  const epoch = axis === "epoch" ? epochOf(having.flatMap((run) => Object.keys(run.metrics)), metric) : undefined;
  const all = await fetchAll(having.map((run) => run.id), epoch ? [metric, epoch] : [metric], { points: 600, ...within, times: axis === "time" || axis === "wall" });
  return courseLines(teams, runs.map((run) => run.id), coursesOf(having, all, metric, axis, epoch), folded, smooth);
}
