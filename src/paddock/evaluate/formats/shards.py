"""A file of a checkpoint by its own end, and an index by all the files that it names."""

from __future__ import annotations

from paddock import wire
from paddock.evaluate.formats import archive, safetensors
from paddock.evaluate.formats.judgement import LONG_QUIET, Judgement, complete, partial
from paddock.evaluate.origin.look import Look


def judge_file(look: Look, name: str = "") -> Judgement:
    """By what the file begins with; one that shows no end is complete when it rests."""
    shown = name or look.name
    if look.appears_whole:
        return complete("objects appear whole", 0.0)
    if look.files[name].size == 0:
        return partial(f"{shown} is empty")
    if shown.endswith(".safetensors"):
        return safetensors.judge(look, name)
    if archive.is_archive(look, name):
        return archive.judge(look, name)
    return complete("it shows no end of its own", LONG_QUIET)


def judge_files(look: Look, names: list[str]) -> Judgement:
    """All of them; the longest quiet counts."""
    quiet, why = 0.0, "no file"
    for name in names:
        found = judge_file(look, name)
        if not found.complete:
            return found
        if found.quiet >= quiet:
            quiet, why = found.quiet, found.why
    return complete(why, quiet)


def judge_index(look: Look, name: str) -> Judgement:
    """`*.index.json` with a `weight_map`: every file that it names must be there and whole."""
    try:
        files = sorted(set(wire.decode(look.read(name, 0, 64 << 20))["weight_map"].values()))
    except (wire.DecodeError, KeyError, TypeError, AttributeError, UnicodeDecodeError):
        return partial(f"{name} is not whole yet")
    base = name.rpartition("/")[0]
    wanted = [f"{base}/{file}" if base else str(file) for file in files]
    missing = [file for file in wanted if file not in look.files]
    if missing:
        return partial(f"{missing[0]} is missing ({len(missing)} of {len(wanted)})")
    return judge_files(look, wanted)
