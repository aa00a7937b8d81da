"""Jobs of Kubernetes for the tasks of a queue.

With a home that the pods see (`home=CLAIM:/PATH`) each pod runs a worker for its task. Without one the task itself is
handed over in a ConfigMap, and the pod's end says what became of it.
"""

from __future__ import annotations

import secrets
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from paddock import files, settings
from paddock.errors import PaddockError, Refused, Unreachable, UsageError
from paddock.queue.directory import DirectoryQueue
from paddock.queue.engine import FROZEN, Engine
from paddock.queue.lifecycle import settle
from paddock.queue.task import Task, render
from paddock.record.layout import Home
from paddock.work.kubernetes import names, site, spec, states
from paddock.work.kubernetes.client import Client
from paddock.work.kubernetes.options import Options, merge
from paddock.work.kubernetes.site import Site
from paddock.work.launcher import Capabilities, Job, Launched, Parcel

TABLE = "kubernetes"
OF_QUEUE = ("context", "namespace", "home")  # not one task's
IDENTITY = ".k8s-queue"  # what the labels of this queue's jobs say: others may use the same namespace
END_SECONDS = 50.0  # that a pod has to go
WATCH_SECONDS = 300.0  # that a watch lasts before there is a new one
AWAY_SECONDS = 10.0  # before a server that went away is watched again


def place(engine: Engine) -> dict[str, str]:
    """Context and namespace of a URL: the last part is the namespace, since contexts may have slashes in them."""
    context, slash, namespace = engine.place.rpartition("/")
    found = {"context": context, "namespace": namespace} if slash else {"context": engine.place}
    return {key: value for key, value in found.items() if value}


def options(engine: Engine, told: Mapping[str, Any] | None = None, here: Mapping[str, Any] | None = None) -> Options:
    """paddock.toml < the URL < what a task says. Of a task that has the file's words with it only the queue's own are
    taken from the one that is `here`."""
    said, here = dict(told or {}), table() if here is None else here
    frozen = said.pop(FROZEN, None)
    if isinstance(frozen, Mapping):
        ours = {key: value for key, value in here.items() if key in OF_QUEUE}
        here = {**{key: value for key, value in frozen.items() if key not in OF_QUEUE}, **ours}
    return merge(here, place(engine), dict(engine.options), said)


def refuse_elsewhere(engine: Engine, task: Task, here: Mapping[str, Any]) -> None:
    """What is the queue's, and was in paddock.toml when a task was submitted, has to be in the one that is here."""
    frozen, said = task.engine.get(FROZEN), {**place(engine), **dict(engine.options)}
    if not isinstance(frozen, Mapping):
        return
    for key in OF_QUEUE:
        meant, is_here = frozen.get(key), here.get(key)
        if key not in said and meant != is_here:
            raise UsageError(
                f"{task.id} was submitted where paddock.toml says {key}={meant or 'nothing'}, and here it says "
                f"{is_here or 'nothing'}.",
                hint="Look from there, or name the place in the queue's URL: k8s://CONTEXT/NAMESPACE?home=...",
            )


def table() -> dict[str, Any]:
    """What the settings and paddock.toml say of Jobs."""
    found, path = settings.table(TABLE)
    given = settings.load()
    ours = {"server": given.server, "code_store": given.code_store}
    base = {key: value for key, value in ours.items() if value and not _is_here(value)}
    try:
        merge(found)
    except UsageError as error:
        raise UsageError(f"{path}, [{TABLE}]: {error.message}", hint=error.hint) from None
    return {**base, **{key.replace("-", "_"): value for key, value in found.items()}}


def _is_here(address: str) -> bool:
    """A server on this machine's loopback is nothing to a pod."""
    return any(host in address for host in ("127.0.0.1", "localhost", "[::1]"))


class KubernetesLauncher:
    def __init__(self, engine: Engine, home: Home) -> None:
        self._engine, self._home = engine, home
        self._table = table()
        self._options = options(engine, here=self._table)
        self._sent: set[str] = set()
        self.client = Client(self._options.context, self._options.namespace)

    @property
    def capabilities(self) -> Capabilities:
        shared = self._options.home is not None
        return Capabilities(
            pause=shared, output_while_it_runs=True, dependencies=True, preemption=False, shared_disk=shared
        )

    def look(self, queue: DirectoryQueue) -> Mapping[str, Sequence[Job]]:
        self._stay(queue)
        chosen = _chosen(queue)
        return states.jobs([*self.client.find("Job", chosen), *self.client.find("Pod", chosen)])

    def listen(self, queue: DirectoryQueue) -> Callable[[], bool]:
        """A thread that watches the Jobs."""
        changed = threading.Event()

        def hear() -> None:
            while True:
                try:
                    _, version = self.client.listed("Job", _chosen(queue))
                    changed.set()  # whatever happened while nobody watched
                    for _ in self.client.watch("Job", _chosen(queue), version, WATCH_SECONDS):
                        changed.set()
                except PaddockError:
                    time.sleep(AWAY_SECONDS)

        def news() -> bool:
            found = changed.is_set()
            changed.clear()
            return found

        threading.Thread(target=hear, name="paddock-jobs", daemon=True).start()
        return news

    def launch(self, queue: DirectoryQueue, tasks: Sequence[Task]) -> list[Launched]:
        ready = _ready(queue, tasks)
        return self._make(queue, [Parcel(task, "", b"") for task in ready]) if ready else []

    def carry(self, queue: DirectoryQueue, parcels: Sequence[Parcel]) -> list[Launched]:
        return self._make(queue, parcels)

    def end(self, queue: DirectoryQueue, jobs: Sequence[Job]) -> None:
        self.client.delete("Job", [job.id for job in jobs], wait=END_SECONDS)

    def _site(self) -> Site:
        context, server, namespace = self.client.whereabouts
        home = self._options.home
        return Site(context, server, namespace, f"{home.source}:{home.path}" if home is not None else "")

    def _stay(self, queue: DirectoryQueue) -> None:
        """Another cluster knows of none of the queue's Jobs: each would be lost, and begin there a second time."""
        there, here = site.read(queue), self._site()
        if there is not None and there.differs(here) and site.may_have_jobs(queue):
            raise Refused(
                f"The Jobs of this queue are in {there}; from here it would be {here}: nothing was started or ended.",
                hint="`kubectl config use-context`, and the directory of your paddock.toml, decide that; "
                "k8s://CONTEXT/NAMESPACE?home=... says it for good.",
            )

    def render(self, queue_name: str, task: Task, version: spec.Version = spec.NEWEST) -> list[spec.Spec]:
        """What would be sent for it. A queue that is there has a label of its own; its name may be longer than one."""
        shown = names.label(queue_name)
        if self._options.home is not None:
            return [self._job(Parcel(task, "", b""), shown, queue_name, version)]
        parcel = Parcel(task, "CLAIM.1", render(task))
        job = self._job(parcel, shown, queue_name, version)
        return [job, spec.config_map(parcel, job["metadata"]["name"], "THE-JOB", shown)]

    def _make(self, queue: DirectoryQueue, parcels: Sequence[Parcel]) -> list[Launched]:
        """A Job for each, and its ConfigMap right behind it: the pod waits for that. What is refused is refused alone,
        unless it is all of them."""
        self._stay(queue)
        mine, version = identity(queue), self.client.version
        name = queue.name if queue.path.parent == self._home.queues else str(queue.path)
        refused: dict[str, PaddockError] = {}
        jobs: dict[str, spec.Spec] = {}
        for parcel in parcels:
            try:
                jobs[parcel.task.id] = self._job(parcel, mine, name, version)
                self._send(parcel.task.code)
            except PaddockError as error:
                refused[parcel.task.id] = error

        def make(parcel: Parcel) -> PaddockError | None:
            try:
                self._start(parcel, jobs[parcel.task.id], mine)
            except PaddockError as error:
                return error
            return None

        ready = [parcel for parcel in parcels if parcel.task.id not in refused]
        if ready:
            site.keep(queue, self._site())  # before there is a Job that has to be found again
        for parcel, trouble in zip(ready, self.client.each(make, ready), strict=True):
            if trouble is not None:
                refused[parcel.task.id] = trouble
        if parcels and len(refused) == len(parcels):
            raise refused[parcels[0].task.id]
        found = []
        for task in (parcel.task.id for parcel in parcels):
            why = refused.get(task)
            found.append(Launched(task, trouble=str(why)) if why else Launched(task, jobs[task]["metadata"]["name"]))
        return found

    def _start(self, parcel: Parcel, job: spec.Spec, mine: str) -> None:
        name = job["metadata"]["name"]
        if self._options.home is not None:
            self.client.create(job)
            return
        spec.config_map(parcel, name, "", mine)  # too large is refused before there is a Job
        uid = self.client.create(job)
        try:
            self.client.create(spec.config_map(parcel, name, uid, mine))
        except PaddockError:
            self.client.delete("Job", [name])
            raise

    def _job(self, parcel: Parcel, queue: str, queue_name: str, version: spec.Version) -> spec.Spec:
        task = parcel.task
        if task.workers > 1:
            raise UsageError(
                f"{task.id} wants {task.workers} ranks: a Job of ours is one pod.",
                hint="Start several workers with `paddock scale k8s`; they run it together.",
            )
        refuse_elsewhere(self._engine, task, self._table)
        told = options(self._engine, task.engine, self._table)
        unique = secrets.token_hex(2)
        if told.home is None and self._options.home is None:
            _refuse_code_that_cannot_travel(task, told)
            return spec.task_job(parcel, queue, told, unique, version)
        if told.home != self._options.home:
            raise UsageError("home is the engine's, not one task's.", hint="Put it into the URL: k8s://...?home=...")
        return spec.worker_job(task, queue, queue_name, told, unique, version)

    def _send(self, code: str) -> None:
        """The pod fetches it from where it is sent now, once for all tasks."""
        if not code or self._options.home is not None or code in self._sent:
            return
        argv = [sys.executable, "-m", "paddock.track.ship.sending", str(self._home.path), code]
        done = subprocess.run(argv, capture_output=True, encoding="utf-8", errors="replace", check=False)
        if done.returncode:
            raise Unreachable(f"The code cannot be sent: {(done.stderr.strip().splitlines() or ['?'])[-1]}")
        self._sent.add(code)


def _chosen(queue: DirectoryQueue) -> str:
    return f"{spec.QUEUE}={identity(queue)},{spec.ROLE} in (task,worker)"


def _ready(queue: DirectoryQueue, tasks: Sequence[Task]) -> list[Task]:
    """Those that wait for no other: a pod that waits takes a place. One that waits in vain is failed by its worker."""
    if not any(task.after for task in tasks):
        return list(tasks)
    states = {place.id: place.state for place in queue.list().places}
    verdicts = [settle(task.after, states) for task in tasks]
    return [task for task, found in zip(tasks, verdicts, strict=True) if found.ready or found.doomed]


def _refuse_code_that_cannot_travel(task: Task, told: Options) -> None:
    if task.code and not told.server and not told.code_store:
        raise UsageError(
            f"The code of {task.id} has no way to its pod.",
            hint="Set PADDOCK_SERVER or PADDOCK_CODE_STORE, give the pods a home (?home=CLAIM:/PATH), or submit with "
            "--no-snapshot, and the command runs in the image as it is.",
        )


def identity(queue: DirectoryQueue) -> str:
    """The same for everybody who sees this queue, and nobody else's."""
    path: Path = queue.path / IDENTITY
    for _ in range(2):
        try:
            if text := files.read_from(path, 0).decode("ascii").strip():
                return text
        except OSError:
            pass
        files.write_once(path, f"{secrets.token_hex(8)}\n".encode())
    raise UsageError(f"{path} cannot be read.", hint="See to the disk.")
