"""Which filesystem a path is on: what the kernel knows of one on another machine is not all that happens there."""

from __future__ import annotations

import os
import re
from pathlib import Path

_NETWORK = re.compile(
    r"(nfs|smb|cifs|lustre|gpfs|beegfs|ceph|gluster|afs|panfs|9p|virtiofs|coda|ncpfs|ocfs2|orangefs|pvfs)\w*"
    r"|fuse\.(?!ext|ntfs|exfat|overlay|fuse-overlayfs|encfs|gocryptfs|squash).*"  # sshfs, s3fs, rclone and their kind
)


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
