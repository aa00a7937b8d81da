import { signal } from "@preact/signals";
import { changed, format, parse, type Page, type Place, type Query, type Value } from "~/route/place";

/** Where we are. Every view reads its state from here and writes it here, so that an address can be shared. */
export const here = signal<Place>(parse(location.pathname, location.search));

addEventListener("popstate", () => {
  here.value = parse(location.pathname, location.search);
});

export function go(page: Page, id = "", query: Query = {}): void {
  follow(format(page, id, query));
}

/** Go to an address of the board. */
export function follow(path: string): void {
  history.pushState(null, "", path);
  here.value = parse(location.pathname, location.search);
  scrollTo(0, 0);
}

/** The same view by its whole name: an address without it would show something else on another day. */
export function settle(page: Page, id: string): void {
  history.replaceState(null, "", format(page, id, here.peek().query));
  here.value = parse(location.pathname, location.search);
}

/** Change names of the query. What people step through (`push`) becomes an entry of the history, the rest does not. */
export function set(changes: Readonly<Record<string, Value>>, push = false): void {
  const place = here.peek();
  const query = changed(place.query, changes);
  const path = format(place.page, place.id, query);
  if (path === location.pathname + location.search) return;
  if (push) history.pushState(null, "", path);
  else history.replaceState(null, "", path);
  here.value = { ...place, query };
}

/** One name of the query; reading it in a component draws that again when the address changes. */
export const asked = (name: string, usual = ""): string => here.value.query.get(name) ?? usual;
export const askedAll = (name: string): string[] => here.value.query.getAll(name);

/** A click on a link inside of the board stays inside; with a key held down it is the browser's. */
export function stayInside(event: MouseEvent): void {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a");
  if (!link || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (link.pathname.startsWith("/api/") || link.pathname === "/login") return;
  event.preventDefault();
  follow(link.pathname + link.search);
}
