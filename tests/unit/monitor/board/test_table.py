"""The table of runs by windows and columns, groups of runs, the keys that there are, and bands over groups."""

from __future__ import annotations

import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from paddock.monitor.board.orders import CHEAP_SECONDS, Kept
from paddock.monitor.board.table import keys_of
from paddock.record.layout import Home
from tests.served import Server, served
from tests.unit.monitor.conftest import author


def test_a_window_holds_the_columns_that_were_asked_for(shown: Server) -> None:
    said = shown.get("/api/v1/table?column=name,config.lr&column=best.loss&column=nothing&limit=2")
    assert said["total"] == 3 and said["ids"] == ["live", "broken"]
    assert said["columns"]["name"] == ["name-live", "name-broken"]
    assert said["columns"]["config.lr"] == [None, 0.2]
    assert said["columns"]["nothing"] == [None, None]
    assert set(said["columns"]) == {"name", "config.lr", "best.loss", "nothing"}
    assert shown.get("/api/v1/table?offset=2&limit=10")["ids"] == ["first"]


def test_it_is_filtered_and_sorted_as_in_the_terminal(shown: Server) -> None:
    assert shown.get("/api/v1/table?q=has:lr&sort=-config.lr")["ids"] == ["broken", "first"]
    assert shown.get("/api/v1/table?sort=state,name")["total"] == 3
    wrong = shown.ask("GET", "/api/v1/table?q=lr%3D%3D%3D")
    assert wrong.status == 400 and wrong.error == "QueryError"


def test_a_comma_inside_of_a_metrics_tags_parts_nothing() -> None:
    assert keys_of(("a\\,b,c", "x\\,{y\\,z}")) == ["a,b", "c", "x,{y,z}"]
    assert keys_of(("a,b", "acc{split=val,top=5},a", " ", "c")) == ["a", "b", "acc{split=val,top=5}", "c"]


def test_the_keys_are_those_of_the_runs(shown: Server) -> None:
    said = shown.get("/api/v1/keys")
    assert {one["key"]: (one["runs"], one["values"]) for one in said["config"]} == {"lr": (2, 2), "deep.a": (2, 2)}
    assert {one["name"]: one["goal"] for one in said["metrics"]} == {"loss": "min", "acc": "max"}
    assert "state" in said["fields"]
    assert shown.get("/api/v1/keys?q=id%3Dlive")["config"] == []


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Two learning rates, three seeds each; the last of each is shorter."""
    home = Home(tmp_path_factory.mktemp("seeds") / "home")
    home.prepare()
    for number in range(6):
        lr, seed = 0.1 * (1 + number // 3), number % 3
        run = author(home, f"r{number}", created=1e9 + number, config={"lr": lr, "seed": seed})
        steps = range(5 if seed == 2 else 11)
        run.rows(("loss",), [[step, lr + seed + step] for step in steps]).end()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PADDOCK_CACHE", str(home.path.parent / "cache"))
        with served(home) as server:
            yield server


def test_groups_have_mean_spread_and_count(seeds: Server) -> None:
    said = seeds.get("/api/v1/groups?by=config.lr&metric=loss&stat=max&sort=loss")
    assert said["total"] == 6 and said["count"] == 2
    first = said["groups"][0]
    assert first["keys"] == {"config.lr": 0.1} and first["runs"] == 3 and first["states"] == {"finished": 3}
    assert sorted(first["ids"]) == ["r0", "r1", "r2"]
    numbers = [10.1, 11.1, 6.1]
    mean = sum(numbers) / 3
    spread = first["metrics"]["loss"]
    assert spread["mean"] == pytest.approx(mean) and spread["n"] == 3
    assert spread["std"] == pytest.approx(math.sqrt(sum((x - mean) ** 2 for x in numbers) / 2))
    down = seeds.get("/api/v1/groups?by=config.lr&metric=loss&stat=max&sort=-loss")
    assert down["groups"][0]["keys"] == {"config.lr": 0.2}
    assert seeds.ask("GET", "/api/v1/groups?by=%20").status == 400


def test_a_band_is_the_mean_of_those_that_are_there_yet(seeds: Server) -> None:
    said = seeds.get("/api/v1/bands?metric=loss&group=r0,r1,r2&group=r3")["bands"]
    band, alone = said
    assert band["steps"] == list(range(11)) and band["n"] == [3] * 5 + [2] * 6
    assert band["mean"][0] == pytest.approx(1.1) and band["std"][0] == pytest.approx(1.0)
    assert band["mean"][10] == pytest.approx(10.6) and band["std"][10] == pytest.approx(math.sqrt(0.5))
    assert alone["std"] == [None] * 11 and alone["n"] == [1] * 11


def test_a_band_of_many_steps_has_some_of_them_with_both_ends(seeds: Server) -> None:
    band = seeds.get("/api/v1/bands?metric=loss&group=r0,r1&points=3&first=2&last=8")["bands"][0]
    assert band["steps"] == [2, 5, 8]
    assert seeds.ask("GET", "/api/v1/bands?metric=nothing&group=r0").error == "MetricNotFound"
    assert seeds.ask("GET", "/api/v1/bands?metric=loss&group=,").status == 400


def test_what_was_dear_is_kept_for_a_while_and_what_was_not_is_made_anew() -> None:
    kept, made = Kept(), []
    assert kept.get("a", 1, lambda: made.append(1) or len(made)).value == 1
    assert kept.get("a", 1, lambda: made.append(1) or len(made)).value == 1
    assert kept.get("a", 2, lambda: made.append(1) or len(made)).value == 2
    assert kept.get("b", 2, lambda: made.append(1) or len(made)).value == 3


def test_what_two_ask_for_at_once_is_made_once_and_both_have_it() -> None:
    kept, made, both = Kept(), [], threading.Barrier(3)

    def make() -> int:
        made.append(1)
        time.sleep(2 * CHEAP_SECONDS)  # as long as it takes: the other one comes in the meantime
        return len(made)

    def ask() -> int:
        both.wait()
        return kept.get("a", 1, make).value

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(ask) for _ in range(2)]
        both.wait()
        assert [one.result() for one in asked] == [1, 1]


def test_an_order_that_is_older_than_the_runs_says_when_it_is_made_anew() -> None:
    kept = Kept()
    dear = kept.get("a", 1, lambda: time.sleep(2 * CHEAP_SECONDS))
    again = kept.get("a", 2, lambda: None)
    assert again.version == 1 and again.due == dear.due > dear.at
    assert kept.get("a", 2, lambda: None, exact=True).version == 2


def test_a_window_of_now_is_not_to_be_asked_for_again(shown: Server) -> None:
    assert shown.get("/api/v1/table?q=has:lr&sort=-config.lr")["renewed"] is None
