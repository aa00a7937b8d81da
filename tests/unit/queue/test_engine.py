"""What the URL of an engine says."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from paddock.queue.engine import Engine, parse
from paddock.work.kubernetes.client import Client
from paddock.work.kubernetes.launcher import place


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("k8s://lab/vision", {"context": "lab", "namespace": "vision"}),
        ("k8s://lab", {"context": "lab"}),
        ("k8s://", {}),
        ("k8s:///vision", {"namespace": "vision"}),
        ("k8s:///", {}),
        ("k8s://arn:aws/cluster/vision", {"context": "arn:aws/cluster", "namespace": "vision"}),
    ],
)
def test_a_cluster_is_a_context_and_a_namespace_of_which_either_may_be_kubectls_own(url: str, said: object) -> None:
    engine = parse(url)
    assert place(engine) == said
    assert parse(engine.url) == engine
    assert Client(**place(engine)).where == unquote(engine.url)


def test_a_partition_has_no_slash_before_it() -> None:
    assert parse("slurm:///gpu?qos=low") == Engine("slurm", "gpu", (("qos", "low"),))


def test_two_places_are_two_queues() -> None:
    urls = ("k8s://", "k8s://vision", "k8s:///vision", "k8s://lab/vision", "k8s://lab-vision", "slurm://vision")
    assert len({parse(url).queue for url in urls}) == len(urls)
