"""Local disks are told from shared ones."""

from __future__ import annotations

import pytest

from paddock.record import filesystem

MOUNTS = """\
22 1 252:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /home rw,relatime shared:5 - nfs4 server:/home rw
31 30 252:1 / /home/ann/local rw - xfs /dev/vdb rw
32 22 0:41 / /mnt/with\\040space rw master:1 - fuse.sshfs host:/ rw
33 22 0:42 / /scratch rw - autofs systemd-1 rw
34 33 0:43 / /scratch rw - lustre mgs:/scratch rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/", "ext4"),
        ("/tmp/x", "ext4"),
        ("/home/ann/.cache/paddock", "nfs4"),
        ("/homework", "ext4"),
        ("/home/ann/local/cache", "xfs"),
        ("/mnt/with space/x", "fuse.sshfs"),
        ("/scratch/ann", "lustre"),
    ],
)
def test_a_path_is_on_the_innermost_and_latest_mount(path: str, kind: str) -> None:
    assert filesystem.filesystem(path, MOUNTS) == kind


@pytest.mark.parametrize(
    "kind", ["nfs", "nfs4", "lustre", "gpfs", "beegfs", "ceph", "cifs", "smb3", "fuse.sshfs", "afs", "panfs", "9p"]
)
def test_a_shared_filesystem_is_known_as_one(kind: str) -> None:
    assert filesystem.is_network(kind)


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "", "fuse.fuse-overlayfs"])
def test_a_local_filesystem_is_known_as_one(kind: str) -> None:
    assert not filesystem.is_network(kind)
