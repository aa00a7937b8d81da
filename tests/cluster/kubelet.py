"""A node with containers: containerd and a kubelet, for real, with the images of image.py and a bridge for its pods.

Wants root and control groups. All that it makes lies in one directory, bears the bridge's name, or names the directory
in its command line, and is taken away by `clear`, also after somebody was killed.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.cluster.image import PAUSE

BRIDGE, NET = "paddock-pods", "10.223.0"
ADDRESS = f"{NET}.1"  # of the bridge: the node's own, and what pods reach their host by
_NETWORKS = Path("/var/run/netns")
_MOST_PODS = 200
_CLEAR_SECONDS = 30.0


def missing() -> str:
    """Why there can be no such node here; "" when there can."""
    if os.geteuid() != 0:
        return "containers want root"
    lacking = [program for program in ("containerd", "ctr", "runc", "ip") if shutil.which(program) is None]
    if lacking:
        return f"{', '.join(lacking)} missing"
    if not Path("/usr/lib/cni/bridge").exists():
        return "the plugins of container networks are missing"
    if Path("/sys/class/net", BRIDGE).exists():
        return f"another run has the bridge {BRIDGE}, or one that was killed has left it: ip link delete {BRIDGE}"
    return ""


def in_containers(pid: str) -> bool:
    """Whether a container's process has this number inside of it, and is no zombie. Those of pods alone are asked."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and "/k8s.io/" in (entry / "cgroup").read_text():
                status = dict(line.split(":", 1) for line in (entry / "status").read_text().splitlines())
                if status["NSpid"].split()[-1] == pid and "Z" not in status["State"]:
                    return True
    return False


class Containers:
    """What a kubelet is given: its runtime, its network, its settings."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.socket = directory / "containerd.sock"
        self._before = _networks()

    def write(self, port: int) -> None:
        (self.directory / "cni").mkdir(parents=True, exist_ok=True)
        (self.directory / "containerd.toml").write_text(self._runtime())
        (self.directory / "cni" / "pods.conflist").write_text(json.dumps(self._network()))
        (self.directory / "kubelet.json").write_text(json.dumps(_settings(port)))
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        run("ip", "address", "add", f"{ADDRESS}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")

    @property
    def runtime(self) -> list[str]:
        return ["containerd", "--config", f"{self.directory}/containerd.toml"]

    def kubelet(self, program: Path, kubeconfig: Path, name: str) -> list[str]:
        return [
            str(program),
            f"--config={self.directory}/kubelet.json",
            f"--kubeconfig={kubeconfig}",
            f"--root-dir={self.directory}/kubelet",
            f"--cert-dir={self.directory}/kubelet-certs",
            f"--volume-plugin-dir={self.directory}/volume-plugins",
            f"--hostname-override={name}",
            f"--node-ip={ADDRESS}",
            "--node-labels=disk=ssd",
            "--container-runtime=remote",
            f"--container-runtime-endpoint=unix://{self.socket}",
        ]

    def import_image(self, image: Path) -> None:
        self._ctr("images", "import", str(image))

    def clear(self) -> None:
        """Whatever was left: containers, mounts, the bridge, the namespaces of networks."""
        end = time.monotonic() + _CLEAR_SECONDS
        while (left := _named(str(self.directory))) and time.monotonic() < end:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            time.sleep(0.1)
        for path in _mounts(self.directory):
            subprocess.run(["umount", "--lazy", path], check=False, capture_output=True)
        for network in _networks() - self._before:
            subprocess.run(["ip", "netns", "delete", network], check=False, capture_output=True)
        subprocess.run(["ip", "link", "delete", BRIDGE], check=False, capture_output=True)

    def _ctr(self, *arguments: str) -> str:
        return run("ctr", "--address", str(self.socket), "--namespace", "k8s.io", *arguments)

    def _runtime(self) -> str:
        cri = 'plugins."io.containerd.grpc.v1.cri"'
        return f"""\
version = 2
root = "{self.directory}/containerd/root"
state = "{self.directory}/containerd/state"
[grpc]
address = "{self.socket}"
[{cri}]
sandbox_image = "{PAUSE}"
restrict_oom_score_adj = true
[{cri}.cni]
bin_dir = "/usr/lib/cni"
conf_dir = "{self.directory}/cni"
[{cri}.containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"
"""

    def _network(self) -> dict[str, Any]:
        addresses = {
            "type": "host-local",
            "ranges": [[{"subnet": f"{NET}.0/24"}]],
            "routes": [{"dst": "0.0.0.0/0"}],
            "dataDir": f"{self.directory}/addresses",
        }
        plugin = {"type": "bridge", "bridge": BRIDGE, "isGateway": True, "ipam": addresses}
        return {"cniVersion": "0.4.0", "name": BRIDGE, "plugins": [plugin]}


def _settings(port: int) -> dict[str, Any]:
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": ADDRESS,
        "port": port,
        "healthzPort": 0,
        "authentication": {"anonymous": {"enabled": True}, "webhook": {"enabled": False}},
        "authorization": {"mode": "AlwaysAllow"},
        "cgroupDriver": "cgroupfs",
        "cgroupsPerQOS": False,
        "enforceNodeAllocatable": [],
        "evictionHard": {"memory.available": "1Mi"},
        "failSwapOn": False,
        "imageGCHighThresholdPercent": 100,
        "kubeAPIQPS": 200,
        "kubeAPIBurst": 400,
        "makeIPTablesUtilChains": False,
        "maxPods": _MOST_PODS,
    }


def run(*argv: str) -> str:
    done = subprocess.run(argv, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(argv)}: {done.stderr.strip()}")
    return done.stdout


def _networks() -> set[str]:
    return {path.name for path in _NETWORKS.iterdir()} if _NETWORKS.exists() else set()


def _mounts(below: Path) -> list[str]:
    """The deepest first."""
    found = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    return sorted((path for path in found if path.startswith(f"{below}/")), key=len, reverse=True)


def _named(directory: str) -> list[int]:
    """Whoever has the directory in its command line: the shims, which outlive containerd, and what they run."""
    shims: set[int] = set()
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int(entry.name)
            words = (entry / "cmdline").read_bytes().decode(errors="replace").split("\0")
            parents[pid] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            if "containerd-shim" in words[0] and any(directory in word for word in words):
                shims.add(pid)
    below = [pid for pid, parent in parents.items() if parent in shims]
    return [*below, *shims]
