"""What evaluates a checkpoint: a Python function by file or module, or a shell command."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from paddock.errors import UsageError

ready: dict[str, Callable[[str], Any]] = {}  # what was imported before there was anything to evaluate


class Evaluator(NamedTuple):
    name: str
    call: dict[str, str]  # {"function": "/abs/file.py:fn"}, {"function": "pkg.mod.fn"} or {"command": "..."}


def function(spec: str, name: str = "") -> Evaluator:
    """From `file.py:fn` or `pkg.mod.fn`; a file by its absolute path, so that it is found from anywhere."""
    file, colon, attribute = spec.rpartition(":")
    if colon and attribute and file.endswith(".py"):
        path = os.path.abspath(os.path.expanduser(file))
        if not os.path.isfile(path):
            raise UsageError(
                f"There is no file {file} to evaluate with.", hint="Write --evaluator path/to/file.py:function."
            )
        return Evaluator(name or attribute, {"function": f"{path}:{attribute}"})
    module, dot, attribute = spec.rpartition(".")
    is_name = re.fullmatch(r"[A-Za-z_][\w.]*", module) and attribute.isidentifier() and not spec.endswith(".py")
    if not dot or not is_name:
        raise UsageError(
            f"--evaluator {spec!r} names no function.",
            hint="Write path/to/file.py:function or package.module.function.",
        )
    return Evaluator(name or attribute, {"function": spec})


def command(text: str, name: str) -> Evaluator:
    """A shell command with {path}, and {out} for a directory of results."""
    if "{path}" not in text:
        raise UsageError(
            f"The --command {name} does not use {{path}}.",
            hint="Such as --command 'python eval.py {path} --out {out}'.",
        )
    return Evaluator(name, {"command": text})


def warm(evaluator: Evaluator) -> str:
    """The command that has an interpreter ready for it before there is anything to evaluate."""
    spec = [evaluator.call["function"]] if "function" in evaluator.call else []
    return shlex.join([sys.executable, "-m", "paddock.evaluate.spare", *spec])


def load(spec: str) -> Callable[[str], Any]:
    """Import the function, unless that was done ahead. What is wrong with it is a sentence."""
    if spec in ready:
        return ready[spec]
    file, colon, attribute = spec.rpartition(":")
    if colon and file.endswith(".py"):
        module = _from_file(file)
        where = file
    else:
        where, _, attribute = spec.rpartition(".")
        try:
            module = importlib.import_module(where)
        except ModuleNotFoundError as error:
            if error.name is None or not where.startswith(error.name):
                raise
            raise UsageError(
                f"There is no module {where!r} to evaluate with.", hint="Is it installed in this environment?"
            ) from None
    found: Callable[[str], Any] | None = getattr(module, attribute, None)
    if found is None:
        names = [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]
        raise UsageError(f"{where} has no function {attribute!r}.", hint=f"It has: {', '.join(names[:10]) or 'none'}.")
    check(found, spec)
    return found


def check(found: Any, spec: str) -> None:
    """It must take the path of a checkpoint and nothing else."""
    if not callable(found):
        raise UsageError(f"{spec} is no function: it is of type {type(found).__name__}.")
    if inspect.iscoroutinefunction(found) or inspect.isgeneratorfunction(found) or inspect.isasyncgenfunction(found):
        kind = "async" if not inspect.isgeneratorfunction(found) else "a generator"
        raise UsageError(
            f"{spec} is {kind}: calling it evaluates nothing.",
            hint="An evaluator returns its scores; asyncio.run() in it runs what is async.",
        )
    try:
        inspect.signature(found).bind("path")
    except TypeError:
        raise UsageError(
            f"{spec}{inspect.signature(found)} cannot be called with a path alone.",
            hint="An evaluator takes the path of the checkpoint; give other arguments defaults.",
        ) from None
    except ValueError:  # a builtin without a signature
        return


def _from_file(path: str) -> Any:
    """The siblings of the file can be imported by it, as when it is run."""
    sys.path.insert(0, os.path.dirname(path))
    name = os.path.basename(path).removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except FileNotFoundError as error:
        if error.filename == path:
            raise UsageError(f"There is no file {path} to evaluate with.") from None
        raise
    return module
