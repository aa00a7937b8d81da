"""A disk that refuses costs a notice and a counter; when it takes again, what waited is written, in order."""

from __future__ import annotations

import contextlib
import os
import subprocess
from pathlib import Path

import pytest

# RLIMIT_FSIZE makes write() fail in the middle of a line, as a full disk does, without needing one.
REFUSED = """
    import resource, signal, sys, time
    import paddock
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    run = paddock.init(id="full")
    for step in range(3000):
        run.log({"a": step}, step=step)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    (journal,) = run.path.glob("journal/*.jsonl")
    resource.setrlimit(resource.RLIMIT_FSIZE, (journal.stat().st_size + 7, hard))
    for step in range(3000, 4000):
        run.log({"a": step}, step=step)
    if sys.argv[1] == "recovers":
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    for step in range(4000, 4100):
        run.log({"a": step}, step=step)
    if sys.argv[1] == "waits":
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
        while run._journal.waiting:
            time.sleep(0.05)        # the keeper tries again without being asked
        print(journal.read_bytes().count(b"\\n"), flush=True)
"""


@pytest.mark.parametrize("how", ["recovers", "waits"])
def test_what_waited_is_written_in_order(script, read, home, how: str) -> None:
    process = script(REFUSED, how, stdout=subprocess.DEVNULL)
    assert process.wait(timeout=120) == 0
    found = read(home.runs / "full")
    assert found.values("a") == list(range(4100))
    assert found.damaged == 0


def test_what_is_refused_to_the_end_goes_to_a_file_that_cat_brings_back(script, read, home) -> None:
    process = script(REFUSED, "never", stderr=subprocess.PIPE)
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0
    command = next(line.strip() for line in err.decode().splitlines() if line.strip().startswith("cat "))
    subprocess.run(["sh", "-c", command], check=True)
    values = read(home.runs / "full").values("a")
    assert sorted(values) == list(range(4100))


def _may_mount(tmp_path: Path) -> bool:
    probe = tmp_path / "probe"
    probe.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "x", str(probe)], capture_output=True).returncode:
        return False
    subprocess.run(["umount", str(probe)], check=True)
    return True


FILLS = """
    import os, sys
    import paddock
    run = paddock.init(id="disk", dir=sys.argv[1])
    step = 0
    while not run._journal.waiting:
        run.log({"a": step, "b": step * 0.1}, step=step)
        step += 1
    for _ in range(500):
        run.log({"a": step, "b": step * 0.1}, step=step)
        step += 1
    print("still printing")
    os.unlink(sys.argv[1] + "/ballast")
    run.log({"a": step, "b": 0.0}, step=step)
    print(step + 1)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small filesystem needs root")
def test_a_disk_that_is_really_full(script, read, tmp_path: Path) -> None:
    if not _may_mount(tmp_path):
        pytest.skip("this machine does not allow mounts")
    mount = tmp_path / "small"
    mount.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "small", str(mount)], check=True)
    try:
        (mount / "ballast").write_bytes(bytes(1 << 20))
        process = script(FILLS, mount, stdout=subprocess.PIPE)
        out, _ = process.communicate(timeout=120)
        assert process.returncode == 0
        steps = int(out.split()[-1])
        found = read(mount / "runs" / "disk")
        assert found.values("a") == list(range(steps))
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=True)


def test_a_home_on_a_full_disk_moves_the_run_to_local_disk(script, read, tmp_path: Path) -> None:
    if os.geteuid() != 0 or not _may_mount(tmp_path):
        pytest.skip("mounting a small filesystem needs root")
    mount, spare = tmp_path / "none left", tmp_path / "it's local"
    mount.mkdir()
    spare.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=1", "small", str(mount)], check=True)
    try:
        process = script(
            "import paddock, sys\nrun = paddock.init(dir=sys.argv[1])\nrun.log({'a': 1})\nprint(run.id)",
            mount,
            env={**os.environ, "TMPDIR": str(spare), "PADDOCK_CAPTURE_CODE": "true"},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = process.communicate(timeout=60)
        assert process.returncode == 0
        assert b"instead" in err and list(spare.iterdir())
        command = next(line for line in err.decode().splitlines() if " mv " in line)
        subprocess.run(["mount", "-o", "remount,size=1m,nr_inodes=1k", str(mount)], check=True)
        subprocess.run(["sh", "-c", command], check=True)
        facts = read(mount / "runs" / out.decode().strip()).facts
        assert (mount / "code" / f"{facts['code']['snapshot']}.json").exists()
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=True)


def test_a_disk_with_room_for_names_alone_moves_the_run_too(script, read, tmp_path: Path) -> None:
    """A directory may need no room for data: on XFS, in a tmpfs, and in Lustre, whose names are on another server."""
    if os.geteuid() != 0 or not _may_mount(tmp_path):
        pytest.skip("mounting a small filesystem needs root")
    mount, spare = tmp_path / "names", tmp_path / "spare"
    mount.mkdir()
    spare.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "small", str(mount)], check=True)
    try:
        for name in ("runs", "code"):
            (mount / name).mkdir()
        (mount / ".gitignore").write_text("*\n")
        with contextlib.suppress(OSError), (mount / "ballast").open("wb", buffering=0) as ballast:
            while True:
                ballast.write(bytes(4096))
        process = script(
            "import paddock, sys\nrun = paddock.init(dir=sys.argv[1])\nrun.log({'a': 1})\nprint(run.id)",
            mount,
            env={**os.environ, "TMPDIR": str(spare)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err.decode()
        assert b"instead" in err and not list((mount / "runs").iterdir())
        (mount / "ballast").unlink()
        command = next(line for line in err.decode().splitlines() if " mv " in line)
        subprocess.run(["sh", "-c", command], check=True)
        assert read(mount / "runs" / out.decode().strip()).values("a") == [1]
    finally:
        subprocess.run(["umount", "-l", str(mount)], check=True)
