"""What the source may not say: nothing that came over a network is executed, by any part of the package."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import paddock

SOURCE = Path(paddock.__file__).parent
FILES = sorted(SOURCE.rglob("*.py"))
MODULES = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "shelve", "marshal", "jsonpickle", "xmlrpc"}
CALLS = {"eval", "exec", "compile", "__import__"}
# What a process tells another that it has started itself, over a pipe that they alone have; and tqdm by its own name.
KNOWN = {
    ("catalog/reader.py", "marshal"),
    ("work/processes/guard.py", "marshal"),
    ("work/processes/guarding.py", "marshal"),
    ("track/progress/bar.py", "__import__"),
}


def said(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names} & MODULES
        elif isinstance(node, ast.ImportFrom):
            found |= {(node.module or "").partition(".")[0]} & MODULES
        elif isinstance(node, ast.Call):
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            if isinstance(node.func, ast.Name):
                found |= {name} & CALLS
            if any(word.arg == "shell" and getattr(word.value, "value", True) for word in node.keywords):
                found.add("shell=True")
            owner = getattr(getattr(node.func, "value", None), "id", "")
            if (owner, name) in {("yaml", "load"), ("yaml", "unsafe_load"), ("os", "system"), ("os", "popen")}:
                found.add(f"{owner}.{name}")
            if (owner, name) == ("torch", "load"):
                found |= set() if any(word.arg == "weights_only" for word in node.keywords) else {"torch.load"}
    return found


def test_nothing_is_unpickled_evaluated_or_given_to_a_shell_by_python() -> None:
    wrong = {(str(path.relative_to(SOURCE)), word) for path in FILES for word in said(path)}
    own = {(path, word) for path, word in wrong if path.startswith(("monitor/", "track/ship"))}
    assert own == set(), "on a socket"
    assert wrong <= KNOWN, "say why it is safe, or do without"


@pytest.mark.parametrize(
    "text",
    [
        "import pickle",
        "from marshal import loads",
        "eval(x)",
        "subprocess.run(x, shell=True)",
        "yaml.load(x)",
        "torch.load(x)",
    ],
)
def test_the_search_finds_what_it_looks_for(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.py"
    path.write_text(text)
    assert said(path)
