"""init(): find or make the run, join it, and watch how the process ends."""

from __future__ import annotations

import getpass
import os
import socket
import sys
import time
from dataclasses import replace
from typing import Any

from paddock import files, wire
from paddock.errors import RunExists, RunNotFound, UsageError
from paddock.record.journal import Journal, writer_name
from paddock.record.layout import Home, RunDirectory, find_home, new_id
from paddock.record.process import boot_id, oom_kills, start_ticks
from paddock.record.redact import redact_config
from paddock.record.scan import header, journal_files, last_step, records_of
from paddock.settings import Settings
from paddock.settings import load as load_settings
from paddock.track import active, notice
from paddock.track.asked import settle
from paddock.track.capture.config import to_config
from paddock.track.capture.launch import rank_of
from paddock.track.elsewhere import give_up, spare_home
from paddock.track.ending import Hooks
from paddock.track.identity import ATTEMPT, RUN_HOME, RUN_ID, RUN_OWNER, Identity, decide, next_attempt
from paddock.track.lines.output import Output
from paddock.track.private import starting
from paddock.track.run import Run, read_facts
from paddock.track.script import started
from paddock.track.shape import given_by
from paddock.track.ship.joining import address_of, brought_here, is_far, server_of
from paddock.track.ship.joining import join as ship
from paddock.track.snapshot import Capture
from paddock.version import __version__

RESTARTS = ("TORCHELASTIC_RESTART_COUNT", "SLURM_RESTART_COUNT")
MODES = ("online", "offline", "dryrun", "disabled", "shared")
_SETTINGS = ("mode", "capture_output", "capture_code", "capture_logging", "server", "serve", "usage")


def init(
    project: str | None = None,
    name: str | None = None,
    group: str | None = None,
    job_type: str | None = None,
    tags: Any = None,
    notes: str | None = None,
    config: Any = None,
    id: str | None = None,
    resume: str | bool | None = None,
    mode: str | None = None,
    dir: str | os.PathLike[str] | None = None,
    parent: str | None = None,
    reinit: Any = None,
    settings: Any = None,
    capture_logging: bool | None = None,
    address: str | int | None = None,
    connect: str | int | bool | None = None,
    serve: str | bool | None = None,
    usage: bool | None = None,
    **more: Any,
) -> Run:
    """Begin a run, continue one, or join the one this process was started for.

    `dir` is the home to write to. `config` may be a dict, an argparse Namespace, a dataclass, an OmegaConf or
    pydantic object. `resume` is "allow", "must", "never", "auto" or True, with `id` saying which. Inside a task, a
    rank of a distributed launch or a child process, init() joins the run that is already there. `capture_logging`
    keeps what the `logging` module is given, too. `address` (or `connect`) is a server that the run is sent to while it
    is written; connect=False sends it nowhere; serve=True starts one for workers that cannot see this disk, which a job
    on several hosts does by itself. `usage` samples what the processes use, for Usage.checkpoint().
    """
    given = {"project": project, "name": name, "group": group, "job_type": job_type, "tags": tags, "notes": notes}
    given |= {"id": id, "resume": resume, "mode": mode, "dir": dir, "reinit": reinit}
    given |= {"capture_logging": capture_logging, "server": server_of(address, connect)}
    given |= {"usage": usage, "usage_from_start": more.get("usage_from_start"), "serve": serve}
    about = given_by(settings) | {key: value for key, value in given.items() if value is not None}
    said, started.about = started.about, {}
    tags = about.get("tags")
    tags = [*([tags] if isinstance(tags, str) else tags or ()), *said.get("tags", ())]
    return _init(about | said | {"tags": [str(tag) for tag in tags]}, config, parent)


def rehearse() -> None:
    """What init() asks the system takes longest the first time: have it asked, in a process that may wait now and not
    later."""
    load_settings()
    _user(), _owner(), start_ticks(os.getpid()), boot_id(), oom_kills(), rank_of(os.environ)


def _init(about: dict[str, Any], config: Any, parent: str | None) -> Run:
    running, reinit = active.current(), about.get("reinit")
    if running is not None:
        if not reinit or reinit == "return_previous":
            if config is not None:
                running.config.update(to_config(config)[0])
            if about.get("capture_logging"):
                _capture_logging(running, load_settings(capture_logging=True))
            return running
        running.finish()
    chosen = load_settings(home=about.get("dir"), **{name: about.get(name) for name in _SETTINGS})
    if chosen.mode not in MODES:
        raise UsageError(f"mode={chosen.mode!r} is unknown.", hint=f"It takes one of {', '.join(MODES)}.")
    values, lossy = to_config(config) if config is not None else ({}, [])
    asked = {name: about.get(name) for name in ("name", "project", "group", "job_type", "tags")}
    if chosen.mode == "disabled":
        from paddock.track.disabled import DisabledRun

        return active.enter(DisabledRun({**asked, "config": values}))
    address_of(chosen)
    starting.check(chosen)
    notice.forget(silent=bool(about.get("silent")))
    ranked = rank_of(os.environ)
    identity = decide(
        os.environ,
        run_id=about.get("id"),
        resume=about.get("resume"),
        parent=parent,
        shared=chosen.mode == "shared",
        rank=(ranked.rank, ranked.world, ranked.key) if ranked else None,
        joined_before=active.joined_before(),
        pid=_owner(),
        separate=bool(asked["project"] or asked["name"] or config is not None) and not _is_pool_worker(),
    )
    identity = _this_launch(find_home(identity.home or chosen.home), identity)
    chosen = starting.meet(chosen, identity)
    asked |= {"notes": about.get("notes") or "", "parent": identity.parent}
    run = active.enter(_begin(chosen, identity, asked, values, lossy))
    run._server = starting.serve(run._home, run._directory, identity, chosen)
    if identity.role == "main" and not identity.rank and not (os.environ.get("PADDOCK_QUIET") or about.get("quiet")):
        verb = "continues" if run.attempt > 1 else "is"
        notice.say(f"run {run.name} ({run.id}) {verb} in {run.path}")
    _sample_usage(run, chosen, first=bool(about.get("usage_from_start")))
    return run


def _begin(
    chosen: Settings, identity: Identity, asked: dict[str, Any], config: dict[str, Any], lossy: list[str]
) -> Run:
    far = is_far(chosen.server, identity)
    home, directory, existed = _directory(chosen, brought_here(identity) if far else identity)
    headers = [header(f.path, f.packed) for f in journal_files(directory.journals)] if existed else []
    attempt = identity.attempt or next_attempt(headers, identity.rank, identity.shared)
    first = identity.role == "main" and not identity.rank
    capture = Capture(home, chosen, with_code=first) if identity.role == "main" else None
    facts, wrote = read_facts(directory), False
    if not facts and far:  # run.json is written where the run was begun
        facts = {"id": directory.id, **asked, "project": asked["project"] or chosen.project or None, "config": config}
    else:
        if not facts:
            try:
                facts, wrote = _make_facts(directory, identity, asked, config, capture, chosen)
            except OSError as error:  # a disk may have room for names, and none for what is in the files
                if existed:  # others write there: a second half of it elsewhere could not be brought back
                    raise
                give_up(directory)
                home, directory, _ = _make_directory(spare_home(home, error), identity)
                capture = Capture(home, chosen, with_code=first) if capture else None
                facts, wrote = _make_facts(directory, identity, asked, config, capture, chosen)
        together = bool(identity.launch) and facts.get("begun_by") == identity.launch
        if not (wrote or existed or identity.join or together) and identity.resume in (None, "never"):
            raise _taken(directory)  # another process with the same id was faster
    step = _continue_step(directory, identity) if existed and attempt > 1 and identity.role == "main" else 0
    roles = iter((identity.role,))

    def open_journal() -> Journal:
        return _open_journal(directory, next(roles, "child"), attempt, identity, chosen)

    run = Run(home, directory, facts, chosen, open_journal, rank=identity.rank, attempt=attempt, step=step)
    if lossy:
        run._drop(
            "config as repr", len(lossy), f"config: {', '.join(lossy[:5])} cannot be written as data; kept as repr()"
        )
    if existed and identity.role == "main":
        run._recall(records_of(directory.journals, ("config", "summary", "tag", "note", "name", "about")))
    settle(run, asked if first and not wrote else {})
    changed = {k: v for k, v in config.items() if run.config.get(k, run) != v}
    if first:
        run.config.update(changed)
    else:  # known to this process; the run's config is what rank 0 says
        run.config._values.update(changed)
    if capture:
        capture.attach(run, wrote)
        if first and not wrote:  # by whoever submitted it, or an earlier attempt: neither knows where this one runs
            run._append({"k": "environment", "attempt": attempt, **capture.surroundings()})
    if identity.role == "main":
        _watch_process(run, chosen, directory, attempt, identity)
        _export(home, directory, attempt)
    _capture_logging(run, chosen)
    run._shipper = ship(home, directory, chosen, identity.role)
    return run


def _directory(chosen: Settings, identity: Identity) -> tuple[Home, RunDirectory, bool]:
    """The run's directory, made when it is new; whether it existed before."""
    home = find_home(identity.home or chosen.home)
    try:
        home.prepare()
        return _make_directory(home, identity)
    except OSError as error:
        return _make_directory(spare_home(home, error), identity)


def _make_directory(home: Home, identity: Identity) -> tuple[Home, RunDirectory, bool]:
    if identity.run_id is None:
        while True:
            directory = home.run(new_id())
            try:
                directory.path.mkdir()
            except FileExistsError:
                continue
            directory.journals.mkdir()
            return home, directory, False
    directory = home.run(identity.run_id)
    headers = [header(file.path, file.packed) for file in journal_files(directory.journals)]
    existed = directory.facts.exists() or bool(headers)
    # Rank 1 may have been faster than rank 0: what this very launch began is joined, whoever came first.
    begun_by = [read_facts(directory).get("begun_by"), *(found.get("launch") for found in headers)]
    together = bool(identity.launch) and identity.launch in begun_by
    if existed and not (identity.join or together) and identity.resume in (None, "never"):
        raise _taken(directory)
    if not existed and identity.resume == "must":
        raise RunNotFound(
            f"There is no run {identity.run_id!r} to continue in {home.path}.",
            hint="`paddock ls` lists what is there; resume='allow' begins a new one.",
        )
    directory.journals.mkdir(parents=True, exist_ok=True)
    return home, directory, existed


def _taken(directory: RunDirectory) -> RunExists:
    return RunExists(
        f"There is a run {directory.id!r} already, in {directory.path}.",
        hint="Pass resume='allow' to continue it, or another id.",
    )


def _make_facts(
    directory: RunDirectory,
    identity: Identity,
    asked: dict[str, Any],
    config: dict[str, Any],
    capture: Capture | None,
    chosen: Settings,
) -> tuple[dict[str, Any], bool]:
    """Write run.json, unless another rank was faster: then theirs holds. Whether this process wrote it."""
    from paddock.track.names import readable_name

    facts = {
        "v": 1,
        "id": directory.id,
        **asked,
        "name": asked["name"] or readable_name(directory.id),
        "project": asked["project"] or chosen.project or started.root().name or "default",
        "created": round(time.time(), 6),
        "user": _user(),
        "config": config,
        "begun_by": identity.launch,
        **({"joins": True} if identity.shared or identity.resume in ("allow", "must", "auto") else {}),
        **(capture.facts(chosen.capture_seconds) if capture else {}),
    }
    written = wire.plain(facts).value
    written["config"] = redact_config(written["config"])
    if files.write_once(directory.facts, wire.dumps(written)):
        return facts, True
    return read_facts(directory) or facts, False


def _continue_step(directory: RunDirectory, identity: Identity) -> int:
    """The step after the last one of the earlier attempts (of this rank, when there are ranks)."""
    steps = []
    for file in journal_files(directory.journals):
        if identity.rank is None or header(file.path, file.packed).get("rank") == identity.rank:
            found = last_step(file)
            if found is not None:
                steps.append(found)
    return max(steps, default=-1) + 1


def _open_journal(directory: RunDirectory, role: str, attempt: int, identity: Identity, chosen: Settings) -> Journal:
    writer = writer_name()
    return Journal(
        directory.journals / f"{writer}.jsonl",
        {
            "run": directory.id,
            "writer": writer,
            "role": role,
            "host": socket.gethostname(),
            "pid": os.getpid(),
            "start": start_ticks(os.getpid()),
            "boot": boot_id(),
            "rank": identity.rank,
            "world": identity.world,
            "launch": identity.launch or None,
            "attempt": attempt,
            "user": _user(),
            "paddock": __version__,
            "oom": oom_kills(),
        },
        pending_bytes=chosen.pending_bytes,
    )


def _watch_process(run: Run, chosen: Settings, directory: RunDirectory, attempt: int, identity: Identity) -> None:
    if chosen.capture_output:
        rank = f".r{identity.rank}" if identity.rank else ""
        try:
            run._output = Output(directory.output / f"{attempt}{rank}.log")
        except OSError as error:
            run._drop("output", 1, f"what is printed cannot be kept ({error.strerror})")
    run._hooks = Hooks(run._finish, signals=chosen.capture_signals)


def _capture_logging(run: Run, chosen: Settings) -> None:
    if not chosen.capture_logging or run.disabled:
        return
    from paddock.record.lines import level_number
    from paddock.track.lines import forward, logged

    logged.follow(run, level_number(chosen.log_level))
    if chosen.forward_exception:
        forward.follow(run)


def _export(home: Home, directory: RunDirectory, attempt: int) -> None:
    """Children that are started from here on join this run."""
    active.export({RUN_ID: directory.id, RUN_HOME: str(home.path), ATTEMPT: str(attempt), RUN_OWNER: _owner()})


def _sample_usage(run: Run, chosen: Settings, *, first: bool) -> None:
    """Nothing of it is imported where nobody asked. `first`: a checkpoint at once, for a script that makes none."""
    if chosen.usage:
        from paddock.track.usage import checkpoint

        active.export({checkpoint.USAGE: "true", checkpoint.SECONDS: str(chosen.usage_seconds)})
        checkpoint.begin(run, chosen.usage_seconds)
        if first:
            checkpoint.Usage.checkpoint("start")
    elif chosen.sources["usage"] == "argument" and (known := sys.modules.get("paddock.track.usage.checkpoint")):
        known.switch_off()


def _is_pool_worker() -> bool:
    """A child of multiprocessing runs its parent's code: whatever it says of itself, it is a part of it."""
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


def _this_launch(home: Home, identity: Identity) -> Identity:
    """Ranks find their run by what they share. A launch that shares the same with an earlier one (a loop that starts
    trainings, a fixed port) is another run all the same, unless the launcher says that it is a restart: where this
    rank has written before, the next number is meant."""
    if not identity.launch or identity.run_id != "r" + identity.launch[:11] or identity.resume:
        return identity
    if identity.role == "child":  # of a rank, whose launcher's variables it has inherited: it knows its run
        return identity
    restart = any(os.environ.get(name, "0") not in ("", "0") for name in RESTARTS)
    base, number = identity.run_id, 1
    while True:
        run_id = base if number == 1 else f"{base}-{number}"
        headers = [header(file.path, file.packed) for file in journal_files(home.run(run_id).journals)]
        if restart:
            if not headers and number > 1:
                return replace(identity, run_id=base if number == 2 else f"{base}-{number - 1}")
            if not headers:
                return identity
        elif not any(found.get("rank") == identity.rank for found in headers):
            return replace(identity, run_id=run_id)
        number += 1


def _owner() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"


def _user() -> str:
    try:
        return getpass.getuser()
    except Exception:  # no passwd entry for this uid, as in containers
        return str(os.getuid())
