"""The manifests of deploy/k8s: each fits the schemas, and they fit each other."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml

from paddock.cli.main import cli
from paddock.record.token import is_exposed

DIRECTORY = Path(__file__).parents[3] / "deploy" / "k8s"


def objects() -> Iterator[dict[str, Any]]:
    for name in yaml.safe_load((DIRECTORY / "kustomization.yaml").read_text())["resources"]:
        yield from yaml.safe_load_all((DIRECTORY / name).read_text())


def test_every_file_is_in_the_kustomization() -> None:
    listed = yaml.safe_load((DIRECTORY / "kustomization.yaml").read_text())["resources"]
    assert {*listed, "kustomization.yaml"} == {path.name for path in DIRECTORY.iterdir()}


@pytest.mark.parametrize("version", [f"1.{minor}" for minor in range(25, 38)])
def test_every_object_fits_the_schemas(version: str) -> None:
    for one in objects():
        kubernetes_validate.validate(one, version, strict=True)


def test_services_find_their_pods_and_their_ports() -> None:
    pods = [one["spec"]["template"] for one in objects() if one["kind"] in ("Deployment", "StatefulSet")]
    for service in (one for one in objects() if one["kind"] == "Service"):
        wanted = service["spec"]["selector"].items()
        (pod,) = [pod for pod in pods if wanted <= pod["metadata"]["labels"].items()]
        named = {port["name"] for container in pod["spec"]["containers"] for port in container["ports"]}
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= named


def test_what_is_mounted_is_a_volume() -> None:
    for one in objects():
        if one["kind"] in ("Deployment", "StatefulSet"):
            spec = one["spec"]["template"]["spec"]
            claims = {claim["metadata"]["name"] for claim in one["spec"].get("volumeClaimTemplates", ())}
            known = claims | {volume["name"] for volume in spec.get("volumes", ())}
            for container in spec["containers"]:
                assert {mount["name"] for mount in container.get("volumeMounts", ())} <= known


def test_the_commands_of_ours_have_the_options_that_they_are_given() -> None:
    import click

    seen = set()
    for one in objects():
        for container in one.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ()):
            if container.get("command", [""])[0] == "paddock":
                _, verb, *words = container["command"]
                command = cli.get_command(click.Context(cli), verb)
                assert command is not None
                command.make_context(verb, words, resilient_parsing=True)
                options = {option for parameter in command.params for option in parameter.opts}
                assert {word for word in words if word.startswith("--")} <= options
                seen.add(verb)
    assert seen == {"serve", "worker"}


def test_the_queue_lets_in_only_who_has_its_password() -> None:
    (queue,), (workers,) = (
        [
            container
            for one in objects()
            for container in one.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ())
            if container["name"] == name
        ]
        for name in ("redis", "worker")
    )
    assert queue["args"][-2:] == ["--requirepass", "$(REDIS_PASSWORD)"]
    known = {one["name"]: one["valueFrom"]["secretKeyRef"] for one in queue["env"]}
    told = {one["name"]: one.get("valueFrom", {}).get("secretKeyRef") for one in workers["env"]}
    assert known["REDIS_PASSWORD"] == told["PADDOCK_REDIS_PASSWORD"]


def test_the_server_takes_its_token_from_the_secret_as_it_is_mounted() -> None:
    """Root's, readable by the pod's group, and where nothing can be written."""
    (pod,) = [
        one["spec"]["template"]["spec"]
        for one in objects()
        if one["kind"] == "StatefulSet" and one["metadata"]["name"] == "paddock-serve"
    ]
    (secret,) = [volume["secret"] for volume in pod["volumes"] if "secret" in volume]
    who = pod["securityContext"]
    assert who["fsGroup"] == who["runAsGroup"]
    assert not is_exposed(secret["defaultMode"], owner=0, user=who["runAsUser"])


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kustomize_puts_it_together() -> None:
    done = subprocess.run(["kubectl", "kustomize", str(DIRECTORY)], capture_output=True, text=True, check=True)
    made = list(yaml.safe_load_all(done.stdout))
    assert len(made) == len(list(objects()))
    assert {one["metadata"]["namespace"] for one in made if one["kind"] != "Namespace"} == {"paddock"}
    for one in made:
        kubernetes_validate.validate(one, "1.30", strict=True)
