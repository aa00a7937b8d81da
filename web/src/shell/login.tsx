import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, locked, unlock } from "~/api/client";
import { Dialog } from "~/part/dialog";
import { Command, Notice } from "~/part/parts";

/** Asked for when the server wants to know who we are: what changes something always needs that. */
export function Login(): JSX.Element | null {
  const [token, setToken] = useState("");
  const [error, setError] = useState<ApiError>();
  if (!locked.value) return null;
  const enter = async (event: Event): Promise<void> => {
    event.preventDefault();
    try {
      await unlock(token.trim());
      location.reload();
    } catch (said) {
      setError(said instanceof ApiError ? said : new ApiError(0, String(said), "", ""));
    }
  };
  return (
    <Dialog title="Who are you?" onClose={() => (locked.value = false)}>
      <p>Changing something needs the server's token, and on a server that others can reach so does reading. This prints a link that lets this browser in:</p>
      <p style={{ margin: "12px 0" }}><Command text="paddock serve --link" /></p>
      <form onSubmit={(event) => void enter(event)}>
        <label>
          Or give the token, which is in <code>&lt;home&gt;/server/token</code>. It becomes a cookie and is not kept.
          <span class="row" style={{ marginTop: "8px" }}>
            <input class="field grow mono" type="password" autocomplete="off" value={token} onInput={(event) => setToken(event.currentTarget.value)} />
            <button class="button primary" disabled={!token.trim()}>Go on</button>
          </span>
        </label>
      </form>
      {error && <div style={{ marginTop: "12px" }}><Notice error={error} /></div>}
    </Dialog>
  );
}
