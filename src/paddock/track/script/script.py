"""The main-script contract: a module with a dict `config` and a function `main()`.

`paddock run script.py lr=0.1` imports the module, overrides `config`, puts in the log functions, and calls `main()`.
The script still runs alone: whatever is put in here, it may define for itself.
A script without `main` is run as it is, with its own arguments.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from paddock.errors import PaddockError, UsageError
from paddock.track import active
from paddock.track.ending import by_exception
from paddock.track.run import Run
from paddock.track.script import override, started
from paddock.track.start import init


def run_script(script: str, arguments: Sequence[str], about: dict[str, Any]) -> None:
    path = Path(os.path.abspath(script))
    if not path.is_file():
        raise UsageError(f"There is no script {script!r}.")
    started.declare(path, about.pop("command", []))
    sys.path.insert(0, str(path.parent))
    sys.argv = [str(path), *arguments]
    tree = _parsed(path)
    if not _keeps_contract(tree):
        if _begins_itself(tree):
            started.about = about  # its own init() is the run's; what was said on the command line goes before
        else:
            init(**about)
        try:
            runpy.run_path(str(path), run_name="__main__")
        except BaseException as error:
            run = active.current()
            if run is not None:
                run._finish(by_exception(type(error), error, error.__traceback__))
            raise
        return
    module = _load(path)
    effective = override.apply(module.config, arguments)
    # In place: other modules may hold the same dict.
    module.config.clear()
    module.config.update(effective)
    run = init(config=effective, **about)
    inject(module, run)
    try:
        module.main()
    except BaseException as error:
        run._finish(by_exception(type(error), error, error.__traceback__))
        raise
    run.finish(0)


def _parsed(path: Path) -> ast.Module:
    """Read, not run: a script without the contract runs only once."""
    try:
        return ast.parse(path.read_bytes(), str(path))
    except (SyntaxError, ValueError):
        return ast.Module([], [])  # running it shows the person the real error


def _begins_itself(tree: ast.Module) -> bool:
    """It imports paddock and calls an init()."""
    imports = {
        alias.name.partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
    } | {(node.module or "").partition(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    called = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return "paddock" in imports and "init" in {getattr(f, "attr", getattr(f, "id", "")) for f in called}


def _keeps_contract(tree: ast.Module) -> bool:
    """Both names are bound at the top of the file."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
        elif isinstance(node, ast.Assign):
            names.update(t.id for t in node.targets if isinstance(t, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.add(node.target.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name) for alias in node.names)
    return {"config", "main"} <= names


def _load(path: Path) -> ModuleType:
    # Under its own name, not "__main__": its `if __name__ == "__main__"` stays quiet, and spawned children can
    # import its functions.
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise UsageError(f"{path} is no Python script.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    if not isinstance(getattr(module, "config", None), dict):
        raise UsageError(f"`config` in {path.name} is a {type(module.config).__name__}, not a dict.")
    return module


def inject(module: Any, run: Run) -> None:
    """Put in what the script may call: it finds these names in its own module."""
    world = os.environ.get("WORLD_SIZE") or "1"
    module.rank = run.rank or 0
    module.n_workers = int(world)
    module.output_dir = run.dir
    own = str(run.path / "files" / f".distributed-init-{run.attempt}")
    # A launcher inside a rank of a task has more processes than the task has ranks: they need a file of their own.
    together = os.environ.get("PADDOCK_WORLD_SIZE") == world
    module.distributed_init_file = os.environ.get("PADDOCK_RENDEZVOUS", own) if together else own
    module.log_metric = run.log_metric
    module.log_info = run.log_info
    module.log_runtime = run.log_runtime
    module.log_image = lambda key, path, **more: run.log_image(key, path, **more)


def main(arguments: Sequence[str]) -> None:
    """What the supervised child process runs: a JSON object of init()'s arguments, the script, its arguments."""
    from paddock import wire
    from paddock.track import notice

    about, script, *rest = arguments
    try:
        run_script(script, rest, wire.loads(about))
    except PaddockError as error:
        notice.say(str(error))
        sys.exit(error.exit_code)


if __name__ == "__main__":
    # Not by `python -m` alone: this file's functions must be the ones in sys.modules, once.
    from paddock.track.script.script import main as imported_main

    imported_main(sys.argv[1:])
