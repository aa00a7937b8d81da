"""What we leave to kubectl: its configuration, and every way to log in that needs a program or a proxy."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from paddock import wire
from paddock.errors import NotFound, PaddockError, Unreachable
from paddock.work.kubernetes import kubeconfig

CALL_SECONDS = 30.0
# When we are gone, however that came about, the shell reads the end of its input, and takes kubectl along.
_SHELL = '"$@" & child=$!; read -r _; kill "$child"'


def program() -> str:
    found = shutil.which("kubectl")
    if found is None:
        raise Unreachable(
            "There is no kubectl here, which knows the clusters and how to log in to them.",
            hint="Install it (https://kubernetes.io/docs/tasks/tools/), or submit from where it is.",
        )
    return found


def config(context: str) -> dict[str, Any]:
    """All that its configuration says of one context. Nothing is asked of the cluster."""
    with contextlib.suppress(OSError, UnicodeDecodeError, kubeconfig.Unread):
        path = Path(
            os.environ.get("KUBECONFIG") or Path.home() / ".kube" / "config"
        )  # several at once cannot be opened
        return kubeconfig.chosen(kubeconfig.read(path.read_text("utf-8")), context, str(path.parent))
    asked = [f"--context={context}"] if context else []
    argv = [program(), "config", "view", "--raw", "--minify", "--flatten", "-o", "json", *asked]
    try:
        done = subprocess.run(
            argv, capture_output=True, encoding="utf-8", errors="replace", timeout=CALL_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unreachable(f"`kubectl config view` took more than {CALL_SECONDS:.0f} s.") from None
    if done.returncode:
        raise _no_config(context, done.stderr)
    found: dict[str, Any] = wire.loads(done.stdout)
    return found


def _no_config(context: str, said: str) -> PaddockError:
    text = " ".join(said.split()).removeprefix("error: ")
    if "context" not in said:
        return Unreachable(f"kubectl's configuration cannot be read: {text}.", hint="`kubectl config view` says more.")
    if context:
        return NotFound(
            f"kubectl knows no context {context!r}.", hint="`kubectl config get-contexts` lists those that it knows."
        )
    return NotFound(
        "kubectl has no context that it uses by itself.",
        hint="Name one (k8s://CONTEXT/NAMESPACE), or `kubectl config use-context`.",
    )


class Proxy:
    """`kubectl proxy` on a socket that only we can reach, for as long as this process lives."""

    def __init__(self, context: str) -> None:
        self._directory = tempfile.mkdtemp(prefix="paddock-")  # 0700
        self.socket = os.path.join(self._directory, "kubectl")
        chosen = [f"--context={context}"] if context else []
        argv = [program(), "proxy", f"--unix-socket={self.socket}", *chosen]
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", _SHELL, "sh", *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )
        atexit.register(self.close)
        assert self._process.stdout is not None
        said = self._process.stdout.readline()
        if not re.search(r"serve on", said):
            self.close()
            raise Unreachable(
                f"`kubectl proxy` does not start: {said.strip()}.", hint="Tried because of how one logs in."
            )

    def close(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        shutil.rmtree(self._directory, ignore_errors=True)
        atexit.unregister(self.close)
