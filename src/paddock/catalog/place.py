"""Where the index lies: on local disk, never on a shared filesystem (WAL does not work over a network)."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from hashlib import blake2b
from pathlib import Path

from paddock.record.layout import Home

_NETWORK = re.compile(
    r"(nfs|smb|cifs|lustre|gpfs|beegfs|ceph|gluster|afs|panfs|9p|virtiofs|coda|ncpfs|ocfs2|orangefs|pvfs)\w*"
    r"|fuse\.(?!ext|ntfs|exfat|overlay|fuse-overlayfs|encfs|gocryptfs|squash).*"  # sshfs, s3fs, rclone and their kind
)


def locate(home: Home, cache: str = "") -> Path | None:
    """The index's file, in a directory that exists and can be written; None when only memory is left."""
    name = blake2b(os.fsencode(os.path.realpath(home.path)), digest_size=12).hexdigest() + ".sqlite"
    wanted = cache_directory(cache)
    if wanted is not None:
        directory = wanted / "catalog"
        if is_local(directory) and _made(directory):
            return directory / name
    private = private_directory()
    return private / name if private is not None else None


def cache_directory(cache: str = "") -> Path | None:
    if cache:
        return Path(os.path.abspath(os.path.expanduser(cache)))
    base = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(base):
        return Path(base) / "paddock"
    try:
        return Path.home() / ".cache" / "paddock"
    except RuntimeError:  # no HOME and no entry in the password file
        return None


def private_directory(parent: Path | None = None) -> Path | None:
    """A directory of this user alone in the temporary one. Others can write there too, so whose it is gets checked:
    a link or somebody else's directory is never used."""
    path = (parent or Path(tempfile.gettempdir())) / f"paddock-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError:
        return None
    safe = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077
    return path if safe and is_local(path) else None


def is_local(path: Path) -> bool:
    try:
        table = Path("/proc/self/mountinfo").read_text(errors="surrogateescape")
    except OSError:
        return True
    return not is_network(filesystem(os.path.realpath(path), table))


def is_network(kind: str) -> bool:
    return _NETWORK.fullmatch(kind) is not None


def filesystem(path: str, mountinfo: str) -> str:
    """The type of the filesystem that `path` (existing or not) is on, by proc_pid_mountinfo(5)."""
    best, found = -1, ""
    for line in mountinfo.splitlines():
        before, dash, after = line.partition(" - ")
        fields = before.split(" ")
        if not dash or len(fields) < 5:
            continue
        mount = _unescaped(fields[4])
        inside = path == mount or path.startswith(mount.rstrip("/") + "/")
        if inside and len(mount) >= best:  # of two mounts on one point the later one is seen
            best, found = len(mount), after.split(" ")[0]
    return found


def _unescaped(mount: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        mount = mount.replace(code, character)
    return mount


def _made(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK | os.X_OK)
