"""Images of layers, as an archive that containerd and Docker take: for the nodes of kubelet.py, which pull nothing.

python -m tests.cluster.image IMAGE.tar LAYER.tar...
"""

from __future__ import annotations

import hashlib
import io
import json
import sys
import tarfile
from pathlib import Path
from typing import Any

IMAGE, PAUSE = "paddock.test/paddock:1", "paddock.test/pause:1"
_CHUNK = 1 << 20


def write(target: Path, layers: list[Path]) -> None:
    """Two images: one with all layers, and one of the first that holds a pod's namespaces and does nothing."""
    digests = [_digest(path) for path in layers]
    with tarfile.open(target, "w") as archive:
        for digest, path in zip(digests, layers, strict=True):
            archive.add(path, f"{digest}.tar")
        entries = [
            _add_image(archive, IMAGE, digests, {"Cmd": ["/bin/sh"]}),
            _add_image(archive, PAUSE, digests[:1], {"Entrypoint": ["/bin/sleep", "infinity"]}),
        ]
        _add_text(archive, "manifest.json", json.dumps(entries))


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(_CHUNK):
            found.update(part)
    return found.hexdigest()


def _add_image(archive: tarfile.TarFile, name: str, digests: list[str], config: dict[str, Any]) -> dict[str, Any]:
    path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    about = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Env": [path, "LANG=C.UTF-8"], **config},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}" for digest in digests]},
    }
    text = json.dumps(about)
    called = f"{hashlib.sha256(text.encode()).hexdigest()}.json"
    _add_text(archive, called, text)
    return {"Config": called, "RepoTags": [name], "Layers": [f"{digest}.tar" for digest in digests]}


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    data = text.encode()
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    archive.addfile(entry, io.BytesIO(data))


if __name__ == "__main__":
    write(Path(sys.argv[1]), [Path(one) for one in sys.argv[2:]])
