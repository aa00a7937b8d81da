"""What kubectl and its like write is read as a reader of YAML reads it; anything else is left to kubectl."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from paddock.work.kubernetes.kubeconfig import Unread, chosen, read

KUBECTL = """\
apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTg==
    server: https://10.0.0.1:6443
  name: kind-lab
- cluster:
    certificate-authority: ca.crt
    extensions:
    - extension:
        last-update: Mon, 16 Nov 2026 10:00:00 CET
        version: v1.30.0
      name: cluster_info
    server: https://lab.example/k8s/clusters/c-m-1
  name: "lab"
contexts:
- context:
    cluster: kind-lab
    namespace: vision
    user: kind-lab
  name: kind-lab
- context: {cluster: lab, user: aws}
  name: flow
- context:
    cluster: lab
    user: arn:aws:eks:eu-west-1:123456789012:cluster/lab
  name: arn:aws:eks:eu-west-1:123456789012:cluster/lab
current-context: kind-lab
kind: Config
preferences: {}
users:
- name: kind-lab
  user:
    client-certificate-data: LS0tLS1CRUdJTg==
    client-key-data: LS0tLS1CRUdJTg==
- name: arn:aws:eks:eu-west-1:123456789012:cluster/lab
  user:
    exec:
      apiVersion: client.authentication.k8s.io/v1beta1
      args:
      - --region
      - eu-west-1
      - eks
      - get-token
      command: aws
      env: null
      interactiveMode: IfAvailable
      provideClusterInfo: false
"""
PLAIN = "\n".join(line for line in KUBECTL.splitlines() if "{cluster" not in line and "name: flow" not in line) + "\n"


def test_what_kubectl_writes_is_read_as_yaml_is() -> None:
    assert read(PLAIN) == yaml.safe_load(PLAIN)
    indented = yaml.safe_dump(yaml.safe_load(PLAIN), indent=4, default_flow_style=False)
    assert read(indented) == yaml.safe_load(PLAIN)


def test_one_context_is_chosen_with_all_that_it_names() -> None:
    found = chosen(read(PLAIN), "", "/home/me/.kube")
    assert found["clusters"][0]["cluster"]["server"] == "https://10.0.0.1:6443"
    assert found["contexts"][0]["context"]["namespace"] == "vision"
    other = chosen(read(PLAIN), "arn:aws:eks:eu-west-1:123456789012:cluster/lab", "/home/me/.kube")
    assert other["users"][0]["user"]["exec"]["command"] == "aws"
    assert other["clusters"][0]["cluster"]["certificate-authority"] == "/home/me/.kube/ca.crt"
    with pytest.raises(Unread):
        chosen(read(PLAIN), "none", "/home/me/.kube")


@pytest.mark.parametrize(
    "text",
    [
        KUBECTL,  # a mapping in braces
        "a: &x 1\n",
        "a: *x\n",
        "a: !!str 1\n",
        "a: |\n  text\n",
        "a: >-\n  text\n",
        "a: one\n  two\n",
        "a: 1\na: 2\n",
        "a:\n\tb: 1\n",
        "a: b # with a remark\n",
        "a: b: c\n",
        "--- \n---\na: 1\n...\n",
        "? a\n: b\n",
        '{"a": ',
        "a: 'it''s' more\n",
        'a: "\\x41"\n',
        "a: [1, 2]\n",
        "- a\n b\n",
    ],
)
def test_anything_else_is_left_to_kubectl(text: str) -> None:
    with pytest.raises(Unread):
        read(text)


def test_json_is_read_too() -> None:
    assert read('\n {"a": [1]}') == {"a": [1]}


LINES = st.lists(
    st.text(st.sampled_from("ab1:-#'\"{}[]&*!|> ~\\.,?%@`=\u00e9"), max_size=12).map(lambda text: f"k: {text}"),
    max_size=3,
)
NESTED = st.recursive(
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.from_regex(r"[a-z][a-z-]{0,8}", fullmatch=True), inner)
    ),
    max_leaves=8,
)


@given(NESTED)
def test_what_is_read_at_all_is_read_as_yaml_reads_it(value: Any) -> None:
    text = yaml.safe_dump({"top": value}, allow_unicode=True, width=10_000, default_flow_style=False)
    with contextlib.suppress(Unread):
        assert _texts(read(text)) == _texts(yaml.safe_load(text))


@given(LINES)
def test_odd_lines_are_read_as_yaml_reads_them_or_not_at_all(lines: list[str]) -> None:
    text = "\n".join(f"{number}{line}" for number, line in enumerate(lines, 10)) + "\n"
    with contextlib.suppress(Unread):
        assert _texts(read(text)) == _texts(yaml.load(text, yaml.BaseLoader) or {})


def _texts(value: Any) -> Any:
    """A configuration has only texts: numbers and words are what they look like."""
    if isinstance(value, dict):
        return {key: _texts(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_texts(one) for one in value]
    if value is None or (isinstance(value, str) and value.lower() in ("null", "~")):
        return ""
    return str(value).lower() if isinstance(value, bool) else value
