"""A real Slurm on one host: munge, slurmctld and two nodes with two GPUs each that are not there, and its accounting
(slurmdbd on a MariaDB), which enforces that accounts exist.

    python -m tests.cluster.slurm start DIRECTORY     prints the path of slurm.conf: export SLURM_CONF=...
    python -m tests.cluster.slurm start DIRECTORY usual     the same, whose scheduler is as Slurm has it by itself
    python -m tests.cluster.slurm stop DIRECTORY

For tests the scheduler is in a hurry: by itself it lets a job wait for a second or three before it looks.

Partitions: `main` (the default, eight jobs at a time), `single` (one at a time), `low`, whose jobs are requeued when
`high` wants their room, and `brief`, whose jobs have a minute.
"""

from __future__ import annotations

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "scancel", "slurmdbd", "mariadbd")
_READY_SECONDS = 240.0  # MariaDB makes its files, and slurmdbd its tables, beside who knows what
_ANSWER_SECONDS = 60.0
_CPUS = 64  # of each node: they are only counted
_MEMORY = 64_000  # megabytes, likewise
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


def missing() -> list[str]:
    return [name for name in PROGRAMS if shutil.which(name, path=f"{os.environ.get('PATH', '')}:{_PATH}") is None]


_HURRY = "SchedulerParameters=bf_interval=2,sched_interval=2,batch_sched_delay=0,max_rpc_cnt=0"


def configuration(directory: Path, ports: list[int], scheduler: str = _HURRY) -> str:
    host = socket.gethostname()
    return f"""ClusterName=paddock
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={directory}/munge.socket
StateSaveLocation={directory}/state
SlurmdSpoolDir={directory}/spool-%n
SlurmctldPidFile={directory}/slurmctld.pid
SlurmdPidFile={directory}/slurmd-%n.pid
SlurmctldLogFile={directory}/slurmctld.log
SlurmdLogFile={directory}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SlurmdParameters=config_overrides
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
{scheduler}
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={ports[1] + 2}
AccountingStoragePass={directory}/munge.socket
AccountingStorageEnforce=associations,limits
AccountingStoreFlags=job_comment
GresTypes=gpu
ReturnToService=2
MaxArraySize=600
MaxJobCount=20000
InactiveLimit=0
KillWait=20
MinJobAge=300
JobRequeue=1
EnforcePartLimits=ALL
MailProg=/bin/true
DefMemPerCPU=100
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
PriorityType=priority/basic
NodeName=n[1-2] NodeHostName={host} NodeAddr=127.0.0.1 Port=[{ports[1]}-{ports[1] + 1}] \
CPUs={_CPUS} RealMemory={_MEMORY} Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP PreemptMode=OFF PriorityTier=5 MaxCPUsPerNode=4
PartitionName=single Nodes=n2 MaxTime=INFINITE State=UP PreemptMode=OFF PriorityTier=5 MaxCPUsPerNode=1
PartitionName=low Nodes=ALL MaxTime=INFINITE State=UP PreemptMode=REQUEUE PriorityTier=1
PartitionName=high Nodes=ALL MaxTime=INFINITE State=UP PreemptMode=OFF PriorityTier=9
PartitionName=brief Nodes=ALL MaxTime=1 DefaultTime=1 State=UP PreemptMode=OFF PriorityTier=5
"""


def accounting(directory: Path, port: int) -> str:
    return f"""AuthType=auth/munge
AuthInfo=socket={directory}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser=root
PidFile={directory}/slurmdbd.pid
LogFile={directory}/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
"""


def _start_accounting(directory: Path, port: int) -> None:
    """Before slurmctld, which waits for nobody to name its cluster."""
    data, socket_ = directory / "mariadb", directory / "mariadb.socket"
    options = ("--no-defaults", f"--datadir={data}", "--skip-networking", f"--socket={socket_}", "--user=root")
    sizes = ("--innodb-buffer-pool-size=64M", "--innodb-lock-wait-timeout=900", "--innodb-flush-log-at-trx-commit=0")
    if not data.exists():
        made = subprocess.run(
            ["mariadb-install-db", "--no-defaults", f"--datadir={data}", "--user=root", "--skip-test-db"],
            capture_output=True,
            text=True,
        )
        assert made.returncode == 0, made.stderr
    _spawn(directory, "mariadbd", *options, *sizes, f"--pid-file={directory}/mariadb.pid")
    _until(socket_.exists, "mariadbd has no socket", directory)
    conf = directory / "slurmdbd.conf"
    conf.write_text(accounting(directory, port))
    conf.chmod(0o600)
    start_accounting(directory)


def start_accounting(directory: Path) -> None:
    """slurmdbd alone, as after it was stopped."""
    # libmariadb finds the server by this variable: it is on no port.
    variables = {"MYSQL_UNIX_PORT": f"{directory}/mariadb.socket", "SLURM_CONF": f"{directory}/slurm.conf"}
    _spawn(directory, "slurmdbd", "-D", environ=variables)


def _has_cluster(conf: Path) -> bool:
    asked = _ask(conf, "sacctmgr", "-i", "add", "cluster", "paddock")
    return asked is not None and (asked.returncode == 0 or "already exists" in asked.stdout)


def _ask(conf: Path, *words: str) -> subprocess.CompletedProcess[str] | None:
    """None when nobody answered: then it is asked again."""
    environ = {**os.environ, "SLURM_CONF": str(conf)}
    try:
        return subprocess.run(words, env=environ, capture_output=True, text=True, timeout=_ANSWER_SECONDS)
    except subprocess.TimeoutExpired:
        return None


def start(directory: Path, scheduler: str = _HURRY) -> Path:
    """All of it; the path of its slurm.conf. Slurm's own programs find it by SLURM_CONF."""
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("state", "spool-n1", "spool-n2"):
        (directory / name).mkdir(exist_ok=True)
    os.chmod(directory, 0o755)
    key = directory / "munge.key"
    if not key.exists():
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o600)
    conf = directory / "slurm.conf"
    ports = _free_ports()
    conf.write_text(configuration(directory, ports, scheduler))
    (directory / "gres.conf").write_text("NodeName=n[1-2] Name=gpu File=/dev/tty[0-1]\n")
    _spawn(
        directory,
        "munged",
        *("--foreground", "--force", "--key-file", str(key), "--socket", f"{directory}/munge.socket"),
        *("--pid-file", f"{directory}/munged.pid", "--log-file", f"{directory}/munged.log"),
        *("--seed-file", f"{directory}/munged.seed"),
    )
    _until((directory / "munge.socket").exists, "munged has no socket", directory)
    _start_accounting(directory, ports[1] + 2)
    _until(lambda: _has_cluster(conf), "slurmdbd does not answer", directory)
    start_controller(directory)
    for node in ("n1", "n2"):
        start_node(directory, node)
    _until(lambda: _idle_nodes(conf) == 2, "the nodes are not idle", directory)
    return conf


def start_controller(directory: Path) -> None:
    _spawn(directory, "slurmctld", "-D", "-i", "-f", str(directory / "slurm.conf"))


def start_node(directory: Path, node: str) -> None:
    _spawn(directory, "slurmd", "-D", "-f", str(directory / "slurm.conf"), "-N", node, name=f"slurmd-{node}")


def stop(directory: Path) -> None:
    for name in ("slurmd-n1", "slurmd-n2", "slurmctld", "slurmdbd", "mariadbd", "munged"):
        stop_one(directory, name)


def stop_one(directory: Path, name: str, how: signal.Signals = signal.SIGTERM) -> None:
    file = directory / f"{name}.started"
    try:
        pid = int(file.read_text())
    except (OSError, ValueError):
        return
    try:
        os.kill(pid, how)
        end = time.monotonic() + 10
        while time.monotonic() < end and _is_alive(pid):
            time.sleep(0.05)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    file.unlink(missing_ok=True)


def _is_alive(pid: int) -> bool:
    try:
        if os.waitpid(pid, os.WNOHANG) == (pid, 0):
            return False
    except ChildProcessError:
        pass
    try:
        return " Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def _spawn(
    directory: Path, program: str, *arguments: str, name: str = "", environ: Mapping[str, str] | None = None
) -> None:
    path = shutil.which(program, path=f"{os.environ.get('PATH', '')}:{_PATH}")
    assert path is not None, f"{program} is not installed"
    with open(directory / f"{name or program}.out", "ab") as out:
        started = subprocess.Popen(
            [path, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            cwd=directory,
            env={"PATH": os.environ.get("PATH", "") + ":" + _PATH, "LC_ALL": "C", **(environ or {})},
            start_new_session=True,
        )
    (directory / f"{name or program}.started").write_text(str(started.pid))
    started.returncode = 0  # it outlives us: nobody is to wait for it


def _idle_nodes(conf: Path) -> int:
    found = _ask(conf, "sinfo", "-h", "-p", "main", "-N", "-o", "%T")
    return sum(word.strip() == "idle" for word in found.stdout.split()) if found is not None else 0


def _until(condition: object, what: str, directory: Path) -> None:
    end = time.monotonic() + _READY_SECONDS
    while not condition():  # type: ignore[operator]
        if time.monotonic() > end:
            logs = "".join(path.read_text(errors="replace")[-1500:] for path in sorted(directory.glob("*.log")))
            raise RuntimeError(f"{what}:\n{logs}")
        time.sleep(0.2)


def _free_ports() -> list[int]:
    """One for slurmctld, and three in a row for the nodes and slurmdbd."""
    for _ in range(100):
        with ExitStack() as stack:
            try:
                one, two = (stack.enter_context(socket.socket()) for _ in range(2))
                one.bind(("127.0.0.1", 0))
                two.bind(("127.0.0.1", 0))
                first = two.getsockname()[1]
                for more in (1, 2):
                    stack.enter_context(socket.socket()).bind(("127.0.0.1", first + more))
                return [one.getsockname()[1], first]
            except OSError:
                continue
    raise RuntimeError("no free ports")


def main(words: list[str]) -> int:
    if len(words) not in (2, 3) or words[0] not in ("start", "stop") or words[2:] not in ([], ["usual"]):
        print(__doc__, file=sys.stderr)
        return 2
    directory = Path(words[1]).absolute()
    if words[0] == "stop":
        stop(directory)
        return 0
    if os.geteuid() != 0 or missing():
        print(f"A Slurm cluster needs root and {', '.join(missing()) or 'nothing else'}.", file=sys.stderr)
        return 3
    print(start(directory, "" if words[2:] else _HURRY))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
