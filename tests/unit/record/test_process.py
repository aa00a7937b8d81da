"""Telling a process from a later one with the same pid."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from paddock.record import process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")


def test_a_process_is_named_by_its_start_and_the_boot() -> None:
    assert len(process.boot_id()) == 36
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        start = process.start_ticks(child.pid)
        assert int(start) >= int(process.start_ticks(os.getpid()))
        assert process.exists(child.pid, start)
        assert process.exists(child.pid, "")
        assert not process.exists(child.pid, "1")
    finally:
        child.communicate(b"\n")
    assert not process.exists(child.pid, start)


def test_a_dead_child_that_nobody_has_waited_for_is_gone() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    child.stdout.read()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert process.start_ticks(child.pid) == ""
    child.communicate()


def test_brackets_in_a_programs_name_do_no_harm(tmp_path: Path) -> None:
    program = tmp_path / "a) b (c"
    program.symlink_to("/bin/cat")
    child = subprocess.Popen([program], stdin=subprocess.PIPE)
    try:
        assert int(process.start_ticks(child.pid)) >= int(process.start_ticks(os.getpid()))
    finally:
        child.communicate()


def test_of_one_on_another_machine_or_in_another_container_it_is_not_known_whether_it_has_ended() -> None:
    here = process.me()
    dead = here._replace(pid=4194305)
    assert process.parse(str(dead)) == dead
    assert (here.is_here(), here.is_gone(), dead.is_gone()) == (True, False, True)
    assert dead._replace(place=here.place._replace(boot="another")).is_gone()
    for elsewhere in ({"host": "another"}, {"machine": "another"}, {"space": "pid:[1]"}):
        there = dead._replace(place=here.place._replace(**elsewhere))
        assert (there.is_here(), there.is_gone()) == (False, False)
    assert process.parse(f"{process.boot_id()} 1 2") is None


def test_the_kernels_count_of_memory_kills_is_a_number() -> None:
    assert process.oom_kills() >= -1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount /proc")
def test_a_process_that_proc_hides_is_not_taken_for_dead() -> None:
    """Or a worker of another user would be, and its task would run twice."""
    own = os.getpid()
    look = f"process.exists({own}, {process.start_ticks(own)!r})"
    code = (
        f"import os; from paddock.record import process; os.setuid(65534); print({look}, process.exists(4194303, ''))"
    )
    script = f'mount -t proc -o hidepid=2 proc /proc && exec "{sys.executable}" -c "$1"'
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = ["unshare", "--mount", "sh", "-c", script, "sh", code]
    done = subprocess.run(command, capture_output=True, env=environ, check=False)
    if b"mount:" in done.stderr or b"unshare" in done.stderr:
        pytest.skip("/proc cannot be mounted here")
    assert done.stdout == b"True False\n", done.stderr
