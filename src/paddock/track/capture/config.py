"""A config of any make as a plain dict, and what Hydra wrote beside the run."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any

from paddock import wire
from paddock.errors import UsageError

_FILE_BYTES = 16 << 20


def to_config(given: Any) -> tuple[dict[str, Any], list[str]]:
    """(the config as JSON data, the places where something had to be written as its repr()).

    Takes a mapping, a Namespace, a dataclass, an OmegaConf, pydantic, attrs or msgspec object, absl's FLAGS, any object
    with attributes, or the path of a JSON, TOML or YAML file.
    """
    if given is None:
        return {}, []
    if isinstance(given, (str, os.PathLike)):
        given = _read_file(Path(given))
    value = _mapping(given)
    if value is None:
        raise UsageError(
            f"config is {_article(given)}, which has no names for its values.",
            hint="Pass a dict, a Namespace, a dataclass, an OmegaConf or pydantic object, or the path of a file.",
        )
    found = wire.plain(value)
    if not isinstance(found.value, dict):  # a mapping whose iteration failed
        raise UsageError(f"config is {_article(given)} that could not be read.", hint="Pass a plain dict.")
    return found.value, found.lossy


def _article(value: Any) -> str:
    name = type(value).__name__
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"


def _mapping(value: Any) -> Any:
    """Something that `wire.plain` turns into a dict, or None."""
    if isinstance(value, type):
        return None if value.__module__ == "builtins" else _public(dict(vars(value)))
    try:
        for reader in (_by_protocol, _by_attributes):
            found = reader(value)
            if found is not None:
                return found
    except Exception as error:  # a foreign object may do anything when asked
        raise UsageError(
            f"config is {_article(value)} that could not be read ({type(error).__name__}: {error}).",
            hint="Pass a plain dict.",
        ) from error
    return None


def _by_protocol(value: Any) -> Any:
    if isinstance(value, Mapping):
        return value
    if callable(getattr(value, "flag_values_dict", None)):  # absl
        return value.flag_values_dict()
    if hasattr(value, "model_dump") or hasattr(value, "__struct_fields__") or hasattr(value, "__dataclass_fields__"):
        found = wire.plain(value).value
        return value if isinstance(found, dict) else None
    if hasattr(value, "__fields__") and callable(getattr(value, "dict", None)):  # pydantic 1
        return value.dict()
    if hasattr(value, "__attrs_attrs__"):
        return {field.name: getattr(value, field.name) for field in value.__attrs_attrs__}
    for name in ("to_dict", "as_dict", "_asdict"):  # transformers, ml_collections, named tuples
        method = getattr(value, name, None)
        if callable(method):
            found = method()
            if isinstance(found, Mapping):
                return found
    return None


def _by_attributes(value: Any) -> Any:
    if type(value).__module__ == "builtins" or callable(value) or not hasattr(value, "__dict__"):
        return None
    if isinstance(value, (Sequence, Set)):
        return None
    return _public(dict(vars(value)))


def _public(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in values.items()
        if not name.startswith("_")
        and not callable(value)
        and not isinstance(value, (classmethod, staticmethod, property))
    }


def _read_file(path: Path) -> Any:
    wrong = f"The config file {path}"
    try:
        if path.stat().st_size > _FILE_BYTES:
            raise UsageError(f"{wrong} is larger than {_FILE_BYTES >> 20} MiB.", hint="Pass a dict of what matters.")
        text = path.read_bytes().decode("utf-8")
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{wrong} cannot be read ({why}).", hint="Pass the path of a file, or a dict.") from None
    suffix = path.suffix.lower()
    if suffix in (".yaml", ".yml"):
        yaml = _yaml()
        if yaml is None:
            raise UsageError(f"{wrong} is YAML, and PyYAML is not installed.", hint="pip install pyyaml")
        read, error_type = yaml.safe_load, yaml.YAMLError
    elif suffix == ".toml":
        import tomllib

        read, error_type = tomllib.loads, tomllib.TOMLDecodeError
    elif suffix == ".json":
        read, error_type = wire.loads, wire.DecodeError
    else:
        raise UsageError(f"{wrong} is of an unknown kind.", hint="It takes .json, .toml, .yaml and .yml.")
    try:
        return read(text)
    except error_type as error:
        raise UsageError(f"{wrong} is not valid {suffix[1:].upper()}: {error}.", hint="Correct it.") from None


def _yaml() -> Any:
    try:
        import yaml  # type: ignore[import-untyped, unused-ignore]
    except ImportError:
        return None
    return yaml


def hydra_overrides(cwd: Path) -> dict[str, Any]:
    """What Hydra composed for this job: {"output_dir", "config", "overrides"}, empty when there is no Hydra job.

    Read as data where PyYAML is installed, else kept as the text that Hydra wrote.
    """
    try:
        for place in _hydra_places(cwd):
            found = {key: _hydra_file(place / ".hydra" / f"{key}.yaml") for key in ("config", "overrides")}
            found = {key: value for key, value in found.items() if value is not None}
            if found:
                plain: dict[str, Any] = wire.plain({"output_dir": str(place), **found}).value
                return plain
    except Exception:  # a fact less, never a failed start
        pass
    return {}


def _hydra_places(cwd: Path) -> list[Path]:
    places = []
    if "hydra" in sys.modules:  # never imported for the asking: it takes half a second
        try:
            from hydra.core.hydra_config import HydraConfig  # type: ignore[import-not-found, unused-ignore]

            if HydraConfig.initialized():
                places.append(Path(str(HydraConfig.get().runtime.output_dir)))
        except Exception:
            pass
    return [*places, cwd]


def _hydra_file(path: Path) -> Any:
    try:
        with path.open("rb") as file:
            text = file.read(_FILE_BYTES).decode("utf-8", "backslashreplace")
    except OSError:
        return None
    yaml = _yaml()
    if yaml is None:
        return text
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text
