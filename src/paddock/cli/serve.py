"""paddock serve: the board, the API, and everything that clients send."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

import click

from paddock import address as address_
from paddock import settings as settings_
from paddock.cli.command import Session, verb
from paddock.cli.span import SPAN
from paddock.errors import HomeError, NotFound, UsageError
from paddock.record import token as token_
from paddock.record.layout import Home, find_home

if TYPE_CHECKING:
    from paddock.monitor.notices.notifying import Notifier
    from paddock.monitor.server.serving import Serving

_HELP = f"""Serve the board and the API of a home, and receive what clients send.

\b
  paddock serve                          this machine only: http://127.0.0.1:{address_.DEFAULT_PORT}
  paddock serve --address :{address_.DEFAULT_PORT}          every interface; then reading needs the token, too
  paddock serve --address lab            a socket that only you can reach; clients say `lab`, too

It prints the addresses that answer, and a link that lets a browser in, once. Other clients show the token that is in
<home>/server/token. A second --home is shown, too; what clients send goes into the first. Ctrl-C ends the server, and
nothing is lost by that.
"""
_FILE = click.Path(dir_okay=False)


@verb("serve", help=_HELP, several_homes=True)
@click.option(
    *("--address", "addresses"),
    multiple=True,
    metavar="ADDRESS",
    help=f"host:port, :port, or a name; repeatable [{address_.LOOPBACK}:{address_.DEFAULT_PORT}].",
)
@click.option(
    "--advertise", multiple=True, metavar="HOST", help="A name that clients know this machine by; repeatable."
)
@click.option("--tls-cert", type=_FILE, metavar="FILE", help="Serve https with this certificate (PEM).")
@click.option("--tls-key", type=_FILE, metavar="FILE", help="The certificate's key, unless it is in the same file.")
@click.option("--token-file", type=_FILE, metavar="FILE", help="Where the token is [<home>/server/token].")
@click.option("--until", type=SPAN, metavar="TIME", help="End after this time.")
@click.option("--link", is_flag=True, help="Start nothing: print a new link into the server of this home.")
def serve(
    session: Session,
    homes: tuple[str, ...],
    addresses: tuple[str, ...],
    advertise: tuple[str, ...],
    tls_cert: str | None,
    tls_key: str | None,
    token_file: str | None,
    until: float | None,
    link: bool,
) -> None:
    from paddock.monitor.house import House
    from paddock.monitor.server.presence import Presence
    from paddock.monitor.server.serving import Plan, Serving

    given = settings_.load()
    found = _homes(homes, given)
    if link:
        _print_link(session, found[0])
        return
    if tls_key and not tls_cert:
        raise UsageError("--tls-key is given, but no certificate.", hint="--tls-cert names it.")
    plan = Plan(
        [address_.parse(text) for text in addresses or (f"{address_.LOOPBACK}:{address_.DEFAULT_PORT}",)],
        [_advertised(name) for name in advertise],
        Path(tls_cert) if tls_cert else None,
        Path(tls_key) if tls_key else None,
        seconds=until or 0.0,
    )
    found[0].prepare()
    presence = Presence(found[0])
    try:
        where = Path(token_file).absolute() if token_file else token_.token_file(found[0])
        house = House(found, given, token_.ensure(where))
        serving = Serving(house, plan)
        presence.note(serving.urls, house.instance, str(where))
        logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(message)s", datefmt="%H:%M:%S")
        notifiers = _notifiers(session, found, given)
        try:
            serving.run(lambda: _tell(session, serving, where))
        finally:
            for one in notifiers:
                one.close()
    finally:
        presence.close()


def _notifiers(session: Session, homes: list[Home], given: settings_.Settings) -> list[Notifier]:
    from paddock.monitor.notices.notifying import Notifier
    from paddock.work.notices import notify

    wanted = notify.load_all(say=session.out.note)
    made = [Notifier(home, wanted, given, session.out.note) for home in homes if not all(one.silent for one in wanted)]
    for one in made:
        one.start()
    return made


def _homes(said: tuple[str, ...], given: settings_.Settings) -> list[Home]:
    found = [find_home(text) for text in dict.fromkeys(said)] or [find_home(given.home)]
    for home in found[1:]:
        if not home.path.is_dir():
            raise HomeError(f"There is no home at {home.path}.", hint="Check --home; runs are kept in <home>/runs/.")
    return found


def _advertised(name: str) -> str:
    """As it is put into a URL: an IPv6 address in brackets."""
    bare = name.removeprefix("https://").removeprefix("http://").rstrip("/")
    if not bare or any(sign in bare for sign in "/@?# "):
        raise UsageError(
            f"--advertise {name!r} is no host.", hint="Write a name or an address, and a port if you like."
        )
    return bare


def _tell(session: Session, serving: Serving, token_file: Path) -> None:
    from paddock.monitor.entrance.login import login_path

    out = session.out
    web = [url for url in serving.urls if url.startswith("http")]
    link = web[0] + login_path(serving.house.token, serving.house.instance) if web else ""
    out.json_line({"urls": serving.urls, "link": link, "token_file": str(token_file)})
    for url in serving.urls:
        out.bare(url)
    if out.human:
        out.line(f"Paddock serves {', '.join(str(home.path) for home in serving.house.homes)}")
        said = [("address" if i == 0 else "", url) for i, url in enumerate(serving.urls)]
        out.fields([*said, *([("browser", link)] if link else []), ("token", str(token_file))])
        out.line("Ctrl-C ends it.", "dim")
    out.flush()


def _print_link(session: Session, home: Home) -> None:
    from paddock.monitor.entrance.login import login_path
    from paddock.monitor.server.presence import find

    found = find(home)
    if found is None:
        raise NotFound(f"No server of yours runs on {home.path}.", hint="`paddock serve` starts one.")
    web = [url for url in found.urls if url.startswith("http")]
    if not web:
        raise NotFound(
            "The server has no address for a browser.", hint="Give it one: paddock serve --address host:port."
        )
    link = web[0] + login_path(token_.read(Path(found.token_file)), found.instance)
    session.out.json({"link": link, "urls": found.urls})
    session.out.bare(link)
    if session.out.human:
        session.out.line(link)
