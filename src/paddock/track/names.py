"""Names that can be said aloud. The same id always gets the same name, so that all ranks agree."""

from __future__ import annotations

import hashlib

_FIRST = """
amber ample autumn bold brave bright brisk broad calm candid chilly civil clear clever cosy crisp curious
daring dapper deft early eager fair fancy fleet fond frank fresh gentle glad golden grand green hardy hasty
hazel honest humble jolly keen kind late lean light lively loyal lucid lucky merry mild mellow neat nimble
noble novel open patient plain polite proud quick quiet rapid ready robust rosy rustic sage sharp shy silent
silver sincere sleek smooth snug sober solid steady still stout sunny sure swift tame tender tidy trim true
trusty upbeat vivid warm wise witty young zesty
""".split()  # noqa: SIM905
_SECOND = """
acorn alder anvil aspen badger barley beech bison birch bramble brook canyon cedar clover colt comet coral
crane creek dale dune eagle elm ember falcon fawn fern field finch fjord foal forge fox gale glade grove
harbor hare hazel heath heron hill holly horse ibex iris ivy jay juniper kestrel lake lark larch linden lynx
maple mare marsh meadow mesa mill moor moss oak orchard osprey otter owl paddock palm pebble pine plover pony
poplar quail quarry rain raven reed ridge river robin rook rowan rush sage sorrel sparrow spruce stable stag
steed stone stream swan thistle thrush tide trail valley vale walnut willow wren yak yew
""".split()  # noqa: SIM905


def readable_name(run_id: str) -> str:
    number = int.from_bytes(hashlib.sha256(run_id.encode()).digest()[:8], "big")
    first, rest = number % len(_FIRST), number // len(_FIRST)
    return f"{_FIRST[first]}-{_SECOND[rest % len(_SECOND)]}-{rest // len(_SECOND) % 1000}"
