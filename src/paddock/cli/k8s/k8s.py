"""paddock k8s: which verbs there are."""

from __future__ import annotations

from paddock.cli.command import Session, verb

_HELP = """What is ours on Kubernetes, and commands that are run there once. `paddock submit --on k8s://CONTEXT/NAMESPACE`
submits tasks; these verbs look at the cluster itself.
"""
_VERBS = ("run", "status", "logs", "events", "wait", "cancel")


@verb("k8s", help=_HELP)
def k8s(session: Session) -> None:
    from paddock.cli.main import VERBS

    found = {name: VERBS[f"k8s {name}"][1] for name in _VERBS}
    session.out.json({"verbs": found})
    session.out.table(["verb", "what it does"], [[f"paddock k8s {name}", about] for name, about in found.items()])
