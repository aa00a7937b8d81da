import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { link } from "~/live/live";
import { Empty, Waiting } from "~/part/parts";
import type { Page } from "~/route/place";
import { go, here, stayInside } from "~/route/router";
import { useKeys } from "~/shell/keys";
import { Login } from "~/shell/login";
import { Sheet, sheetOpen } from "~/shell/sheet";
import { choose, theme, type Theme } from "~/shell/theme";
import { Toasts } from "~/shell/toast";

type Loaded = ComponentType<{ id: string }>;

/** Each page is a file of its own, loaded when it is gone to. */
const PAGES: Record<Exclude<Page, "none">, () => Promise<{ default: Loaded }>> = {
  runs: () => import("~/page/runs/runs"),
  run: () => import("~/page/run/run"),
  compare: () => import("~/page/compare/compare"),
  reports: () => import("~/page/reports/reports"),
  report: () => import("~/page/reports/report"),
  queue: () => import("~/page/queue/queue"),
  watches: () => import("~/page/watches/watches"),
  watch: () => import("~/page/watches/watch"),
  now: () => import("~/page/now/now"),
};

const TABS: [page: Page, title: string, also: Page, key: string][] = [
  ["now", "Now", "now", "n"],
  ["runs", "Runs", "run", "r"],
  ["compare", "Compare", "compare", "c"],
  ["queue", "Queue", "queue", "q"],
  ["watches", "Watches", "watch", "w"],
  ["reports", "Reports", "report", "p"],
];

const LINKS = { live: "live", connecting: "connecting", away: "server away", resting: "idle" } as const;
const THEMES: Record<Theme, [next: Theme, sign: string]> = { auto: ["light", "◐"], light: ["dark", "☀"], dark: ["auto", "☾"] };

export function App(): JSX.Element {
  const place = here.value;
  useKeys("Everywhere", [
    ...TABS.map(([page, title, , key]) => ({ keys: `g ${key}`, about: title, run: () => go(page) })),
    { keys: "t", about: "light, dark, or as the system is", run: () => choose(THEMES[theme.peek()][0]) },
    { keys: "?", about: "this sheet", run: () => (sheetOpen.value = true) },
  ]);
  return (
    <div class="shell" onClick={stayInside}>
      <a class="skip" href="#main">To the content</a>
      <header class="top">
        <a class="brand" href="/runs" aria-label="Paddock">
          <svg viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="7" fill="var(--accent)" />
            <path d="M6 12h20M6 20h20M10 7v18M22 7v18" stroke="var(--on-accent)" stroke-width="2.6" stroke-linecap="round" />
          </svg>
          Paddock
        </a>
        <nav class="tabs" aria-label="Pages">
          {TABS.map(([page, title, also]) => (
            <a key={page} href={`/${page}`} aria-current={place.page === page || place.page === also ? "page" : undefined}>{title}</a>
          ))}
        </nav>
        <span class="grow" />
        <span class={`link-state ${link.value}`} role="status">{LINKS[link.value]}</span>
        <button type="button" class="button plain" title={`Colours: ${theme.value} (t)`} aria-label={`Colours: ${theme.value}`} onClick={() => choose(THEMES[theme.value][0])}>
          {THEMES[theme.value][1]}
        </button>
        <button type="button" class="button plain wide-only" title="Keys (?)" aria-label="Keys" onClick={() => (sheetOpen.value = true)}>?</button>
      </header>
      <main class="main" id="main"><Shown page={place.page} id={place.id} /></main>
      <Sheet />
      <Login />
      <Toasts />
    </div>
  );
}

function Shown({ page, id }: { page: Page; id: string }): JSX.Element {
  const [loaded, setLoaded] = useState<{ page: Page; View: Loaded }>();
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    if (page === "none") return;
    setFailed(false);
    let gone = false;
    PAGES[page]().then(
      (module) => !gone && setLoaded({ page, View: module.default }),
      () => !gone && setFailed(true),
    );
    return () => {
      gone = true;
    };
  }, [page]);
  if (page === "none") return <Empty title="There is no such page.">The address may be mistyped. The tabs lead to all there is.</Empty>;
  if (failed) return <Empty title="This page could not be loaded.">The server may be another version now. Load the page again.</Empty>;
  if (loaded?.page !== page) return <Waiting height={320} />;
  return <loaded.View key={page + id} id={id} />;
}
