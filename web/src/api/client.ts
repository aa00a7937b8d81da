import { signal } from "@preact/signals";

/** What the server said no to, in its own words. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string,
    readonly code: string,
  ) {
    super(message);
  }
}

export type Params = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** Set when the server wants to know who we are; a dialog then asks. */
export const locked = signal(false);

export function address(path: string, params: Params = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === "") continue;
    for (const word of Array.isArray(value) ? value : [String(value)]) query.append(name, word);
  }
  const words = query.toString();
  return `/api/v1${path}${words ? `?${words}` : ""}`;
}

export async function get<T>(path: string, params: Params = {}, signal?: AbortSignal): Promise<T> {
  return ask<T>(address(path, params), { signal: signal ?? null });
}

export async function post<T>(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<T> {
  const json = { "content-type": "application/json", ...headers };
  return ask<T>(address(path), { method: "POST", headers: json, body: JSON.stringify(body) });
}

async function ask<T>(path: string, how: RequestInit): Promise<T> {
  let answer: Response;
  try {
    answer = await fetch(path, { credentials: "same-origin", ...how });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw new ApiError(0, "The server does not answer.", "Is `paddock serve` still running?", "Away");
  }
  if (!answer.ok) throw await failure(answer);
  if (answer.status === 204) return undefined as T;
  return (await answer.json()) as T;
}

export async function failure(answer: Response): Promise<ApiError> {
  let said: { error?: { message?: string; hint?: string; code?: string } } = {};
  try {
    said = await answer.json();
  } catch {
    // not ours: a proxy's page
  }
  const { message = `The server answered ${answer.status}.`, hint = "", code = "" } = said.error ?? {};
  if (answer.status === 401) locked.value = true;
  return new ApiError(answer.status, message, hint, code);
}

/** Exchange the server's token for a cookie that scripts cannot read. */
export async function unlock(token: string): Promise<void> {
  const link = await ask<{ path: string }>(address("/links"), {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: "{}",
  });
  const answer = await fetch(link.path, { credentials: "same-origin" });
  if (!answer.ok) throw await failure(answer);
  locked.value = false;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
