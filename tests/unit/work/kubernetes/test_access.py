"""Which ways to log in are ours, and which are left to kubectl."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from paddock.work.kubernetes.access import Access, namespace, of_pod, read


def config(user: dict[str, Any], cluster: dict[str, Any] | None = None, where: str = "") -> dict[str, Any]:
    """As `kubectl config view --raw --minify --flatten -o json` prints it."""
    found = cluster or {"server": "https://10.0.0.1:6443"}
    context = {"cluster": "c", "user": "u", **({"namespace": where} if where else {})}
    return {
        "clusters": [{"name": "c", "cluster": found}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "x", "context": context}],
    }


def coded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def test_a_token_and_a_certificate_are_used_as_they_are() -> None:
    cluster = {"server": "https://lab.example/k8s/clusters/c-1/", "certificate-authority-data": coded(b"CA")}
    assert read(config({"token": "t"}, cluster), {}) == Access(
        "lab.example", 443, "/k8s/clusters/c-1", ca="CA", token="t"
    )
    found = read(config({"client-certificate-data": coded(b"CRT"), "client-key-data": coded(b"KEY")}), {})
    assert found == Access("10.0.0.1", 6443, certificate=b"CRT", key=b"KEY")


def test_names_and_carelessness_of_the_configuration_are_kept() -> None:
    cluster = {"server": "https://[::1]:6443", "insecure-skip-tls-verify": True, "tls-server-name": "kubernetes"}
    assert read(config({}, cluster), {}) == Access("::1", 6443, checked=False, name="kubernetes")


def test_files_that_it_names_are_read(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("from a file\n")
    found = read(config({"tokenFile": str(tmp_path / "token")}), {})
    assert found is not None and found.token == "from a file"
    assert read(config({"tokenFile": str(tmp_path / "none")}), {}) is None


@pytest.mark.parametrize(
    ("user", "cluster"),
    [
        ({"exec": {"command": "aws", "args": ["eks", "get-token"]}}, None),
        ({"auth-provider": {"name": "oidc"}}, None),
        ({"token": "t", "as": "somebody-else"}, None),
        ({"username": "u", "password": "p"}, None),
        ({"token": "t"}, {"server": "https://10.0.0.1", "proxy-url": "socks5://10.0.0.2"}),
        ({"token": "t"}, {"server": "10.0.0.1:6443"}),
        ({"client-certificate-data": "no base64!"}, None),
    ],
)
def test_whatever_we_do_not_know_is_kubectls(user: dict[str, Any], cluster: dict[str, Any] | None) -> None:
    assert read(config(user, cluster), {}) is None


def test_a_proxy_of_the_environment_is_kubectls_unless_the_server_is_here() -> None:
    assert read(config({"token": "t"}), {"HTTPS_PROXY": "http://proxy:3128"}) is None
    here = read(config({"token": "t"}, {"server": "https://127.0.0.1:6443"}), {"HTTPS_PROXY": "http://proxy:3128"})
    assert here is not None


def test_the_namespace_is_the_contexts_or_the_usual_one() -> None:
    assert namespace(config({}, where="vision")) == "vision"
    assert namespace(config({})) == "default"


def test_in_a_pod_it_is_the_pods_own_account(tmp_path: Path) -> None:
    for name, text in (("token", "t\n"), ("ca.crt", "CA"), ("namespace", "vision")):
        (tmp_path / name).write_text(text)
    inside = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443", "HOME": str(tmp_path)}
    access = Access("10.96.0.1", 443, ca="CA", token="t", token_file=str(tmp_path / "token"))
    assert of_pod(inside, tmp_path) == (access, "vision")
    assert of_pod({**inside, "KUBECONFIG": "/some/where"}, tmp_path) is None
    assert of_pod({"HOME": str(tmp_path)}, tmp_path) is None
    assert of_pod(inside, tmp_path / "none") is None
