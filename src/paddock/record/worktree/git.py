"""Asking git, in a way that cannot hang, prompt, take a lock, reach the network or run a program from the
repository's configuration (but for the clean filters of changed files, which git needs to compare them)."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

from paddock.record.layout import Home
from paddock.record.manifest import text_path
from paddock.record.objects import put_object
from paddock.record.redact import without_credentials

DIFF_BYTES = 16 << 20
UNTRACKED = 1000  # names kept
_LIST_BYTES = 256 << 20
_NO_HOOKS = ("-c", "core.fsmonitor=false", "-c", "gc.auto=0", "-c", "color.ui=never")
_DIFF = (
    *("diff", "--binary", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--no-relative"),
    *("--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=dirty", "HEAD"),
)
# Set by git for its hooks: a script started from one would be searched in the wrong repository.
_FOREIGN = re.compile(
    r"GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY|NAMESPACE|EXTERNAL_DIFF|TRACE.*)"
)


class Answer(NamedTuple):
    out: bytes
    error: str  # why there is no (whole) answer, in a few words; empty when there is
    cut: bool = False


class Repository(NamedTuple):
    top: Path
    note: str = ""  # why git could not be asked, when `.git` is there but git is missing or refuses
    usable: bool = True


def ask(arguments: tuple[str, ...], directory: str | Path, deadline: float, limit: int = _LIST_BYTES) -> Answer:
    """What git prints, at most `limit` bytes of it."""
    environment = {name: value for name, value in os.environ.items() if not _FOREIGN.fullmatch(name)}
    environment |= {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_PAGER": "cat",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS": "",
        "LC_ALL": "C",
        "LANGUAGE": "",
    }
    try:
        process = subprocess.Popen(
            ("git", *_NO_HOOKS, *arguments),
            cwd=directory,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # no terminal to prompt on, and one group to end
        )
    except (OSError, ValueError, RuntimeError) as error:
        missing = isinstance(error, FileNotFoundError) and error.filename == "git"
        return Answer(b"", "git is not installed" if missing else f"git could not be started ({error})")
    try:
        return _listen(process, deadline, limit)
    finally:
        _end(process)


def _listen(process: subprocess.Popen[bytes], deadline: float, limit: int) -> Answer:
    assert process.stdout and process.stderr
    out, said = bytearray(), bytearray()
    buffers = {process.stdout.fileno(): out, process.stderr.fileno(): said}
    poll = select.poll()  # not select(): a training process may have more than 1,024 files open
    for descriptor in buffers:
        poll.register(descriptor, select.POLLIN)
    while buffers:
        left = deadline - monotonic()
        if left <= 0:
            return Answer(bytes(out), "git took too long", True)
        for descriptor, _ in poll.poll(min(left, 1.0) * 1000):
            data = os.read(descriptor, 1 << 16)
            if not data:
                poll.unregister(descriptor)
                del buffers[descriptor]
            elif descriptor == process.stdout.fileno() or len(said) < 4096:
                buffers[descriptor] += data
        if len(out) > limit:
            return Answer(bytes(out[:limit]), "", True)
    try:
        code = process.wait(max(0.1, deadline - monotonic()))
    except subprocess.TimeoutExpired:
        return Answer(bytes(out), "git took too long", True)
    if code:
        return Answer(bytes(out), bytes(said).decode("utf-8", "replace").strip()[:300] or f"git ended with {code}")
    return Answer(bytes(out), "")


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
        try:
            process.wait(1.0)  # one that hangs in the kernel (a dead NFS server) is left behind, not waited for
        except subprocess.TimeoutExpired:
            pass
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()


def find_repository(directory: Path, deadline: float) -> Repository | None:
    """The work tree that `directory` is in. When git cannot say, the nearest `.git` upwards does."""
    answer = ask(("rev-parse", "--is-inside-work-tree", "--show-toplevel"), directory, deadline)
    inside, _, top = answer.out.partition(b"\n")
    if not answer.error and inside == b"true" and top.endswith(b"\n"):
        return Repository(Path(os.fsdecode(top[:-1])))
    if inside == b"false" or "not a git repository" in answer.error:  # bare, or inside .git, or none at all
        return None
    for place in (directory, *directory.parents):
        if os.path.lexists(place / ".git"):
            why = "git refuses: the repository belongs to another user" if "dubious" in answer.error else answer.error
            return Repository(place, why, False)
    return None


def facts(home: Home, repository: Repository, deadline: float) -> tuple[dict[str, Any], list[str]]:
    """({commit, branch, remote, dirty, diff, untracked: []}, notes). `dirty`: tracked files differ from the commit."""
    if not repository.usable:
        commit, branch = head_by_hand(repository.top)
        found: dict[str, Any] = {
            "commit": commit,
            "branch": branch,
            "remote": None,
            "dirty": None,
            "diff": None,
            "untracked": [],
        }
        return found, [f"changes since the commit are unknown: {repository.note}"]
    top = repository.top
    notes: list[str] = []
    head = ask(("rev-parse", "HEAD", "--symbolic-full-name", "HEAD"), top, deadline)
    commit, branch = None, None
    if not head.error:
        commit, _, name = head.out.decode("utf-8", "backslashreplace").strip().partition("\n")
        branch = name.removeprefix("refs/heads/") if name != "HEAD" else None
    else:
        unborn = ask(("symbolic-ref", "-q", "--short", "HEAD"), top, deadline)
        branch = unborn.out.decode("utf-8", "backslashreplace").strip() or None
        notes.append("the repository has no commit yet" if not unborn.error else head.error.splitlines()[0])
    diff: str | None = None
    dirty: bool | None = False
    if commit:
        diff, dirty, note = _diff(home, top, deadline)
        notes += [note] if note else []
    found = {"commit": commit, "branch": branch, "remote": _remote(top, branch, deadline)}
    return {**found, "dirty": dirty, "diff": diff, "untracked": []}, notes


def _diff(home: Home, top: Path, deadline: float) -> tuple[str | None, bool | None, str]:
    answer = ask(_DIFF, top, deadline, DIFF_BYTES)
    if answer.error:
        return None, None, f"no diff: {answer.error.splitlines()[0]}"
    if not answer.out:
        return None, False, ""
    try:
        digest = put_object(home, answer.out)
    except OSError as error:
        return None, True, f"the diff could not be kept ({error.strerror or error})"
    return digest, True, f"the diff was cut at {DIFF_BYTES >> 20} MiB" if answer.cut else ""


def _remote(top: Path, branch: str | None, deadline: float) -> str | None:
    """The url of the branch's remote, else of origin, else of the first one, without credentials."""
    answer = ask(("config", "-z", "--get-regexp", r"^(remote\..*\.url|branch\..*\.remote)$"), top, deadline)
    found: dict[str, str] = {}
    for item in answer.out.decode("utf-8", "backslashreplace").split("\0"):
        key, _, value = item.partition("\n")
        if key:
            found.setdefault(key, value)
    urls = {key[len("remote.") : -len(".url")]: url for key, url in found.items() if key.endswith(".url")}
    name = found.get(f"branch.{branch}.remote", "origin")
    url = urls.get(name) or urls.get("origin") or next(iter(urls.values()), None)
    return without_credentials(url) if url else None


def tracked(top: Path, deadline: float) -> tuple[list[str], list[str], str]:
    """(files, submodules, why the list is not whole), each relative to `top`."""
    answer = ask(("ls-files", "-z", "-s"), top, deadline)
    found: dict[str, None] = {}
    modules: dict[str, None] = {}
    for item in _items(answer):
        stage, _, name = item.partition(b"\t")
        (modules if stage.startswith(b"160000") else found)[os.fsdecode(name)] = None  # once per conflict stage
    return list(found), list(modules), answer.error


def untracked(top: Path, deadline: float, besides: str | None = None) -> tuple[list[str], str]:
    """What git neither tracks nor ignores; a nested repository ends with a slash. `besides`: a directory to skip."""
    exclude = ("-x", "/" + re.sub(r"([\\*?\[\] !#])", r"\\\1", besides) + "/") if besides else ()
    answer = ask(("ls-files", "-z", "-o", "--exclude-standard", *exclude), top, deadline)
    return [os.fsdecode(item) for item in _items(answer)], answer.error


def _items(answer: Answer) -> list[bytes]:
    items = answer.out.split(b"\0")
    return items[:-1]  # behind the last NUL is nothing, or a name that was cut


def head_by_hand(top: Path) -> tuple[str | None, str | None]:
    """(commit, branch) as `.git` has them, where git is missing (containers) or refuses."""
    try:
        folder = top / ".git"
        if folder.is_file():  # a linked work tree or a submodule
            folder = top / folder.read_text("utf-8").removeprefix("gitdir:").strip()
        head = (folder / "HEAD").read_text("utf-8").strip()
        if not head.startswith("ref:"):
            return _commit(head), None
        name = head.removeprefix("ref:").strip()
        shared = (
            folder / (folder / "commondir").read_text("utf-8").strip() if (folder / "commondir").exists() else folder
        )
        branch = text_path(name.removeprefix("refs/heads/"))
        for place in (folder, shared):
            if (place / name).is_file():
                return _commit((place / name).read_text("utf-8").strip()), branch
        for line in (shared / "packed-refs").read_text("utf-8").splitlines():
            commit, _, ref = line.partition(" ")
            if ref == name:
                return _commit(commit), branch
        return None, branch
    except (OSError, ValueError):
        return None, None


def _commit(text: str) -> str | None:
    return text if re.fullmatch(r"[0-9a-f]{40}|[0-9a-f]{64}", text) else None
