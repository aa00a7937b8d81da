"""Ranks gather, start together and end together."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paddock.queue.ensemble import gang
from paddock.queue.ensemble.gang import Gang, Go, Result, Seat, Wait
from paddock.queue.ensemble.inherited import without_rank
from paddock.queue.lease import Identity
from paddock.queue.lifecycle import QUEUED, Place, Token
from paddock.queue.task import Task

names = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
seats = st.builds(Seat, names, st.integers(0, 999))
tokens = st.builds(Token, names, st.integers(1, 99))


def go_for(*places: Seat) -> Go:
    return Go("lead.1", 1, tuple(map(str, places)), ("h",) * len(places), "/q/rendezvous", "127.0.0.1", 4000)


@settings(deadline=None)
@given(st.sets(seats, max_size=12), st.sets(tokens, max_size=3), st.data())
def test_a_listing_says_all(places: set[Seat], leaders: set[Token], data: st.DataObject) -> None:
    ranks = {seat: data.draw(st.integers(0, 99)) for seat in places}
    taken = {seat for seat in places if data.draw(st.booleans())}
    over = {seat: (ranks[seat], data.draw(st.booleans())) for seat in taken if data.draw(st.booleans())}
    listing = [gang.offer_name(seat) for seat in places - taken]
    listing += [gang.rank_name(ranks[seat], seat) for seat in taken]
    listing += [gang.result_name(rank, seat, well) for seat, (rank, well) in over.items()]
    listing += [name(token) for token in leaders for name in (gang.go_name, gang.stop_name, gang.rendezvous_name)]
    found = gang.read_names([*listing, ".go~x.1.tmp", "notes", "rank-x~y.1", "offer~a/b.1"])
    assert (found.offers, found.go, found.stop) == (places - taken, leaders, leaders)
    assert found.ranks == {seat: ranks[seat] for seat in taken}
    assert found.results == over
    assert set(found.unsettled) == taken - over.keys()


@settings(deadline=None)
@given(st.sets(seats, min_size=1, max_size=20), st.integers(1, 12))
def test_whoever_leads_takes_exactly_as_many_as_are_needed_and_is_rank_0(offers: set[Seat], needed: int) -> None:
    for leader in {seat.worker for seat in offers}:
        chosen = gang.choose(offers, needed, leader)
        if len(offers) < needed:
            assert chosen is None
            continue
        assert chosen is not None and len(set(chosen)) == needed and set(chosen) <= offers
        assert chosen[0].worker == leader
        workers = [seat.worker for seat in chosen]
        assert workers == sorted(workers, key=workers.index), "ranks of one worker follow each other"
    assert gang.choose(offers, needed, "nobody-here") is None


def test_as_few_workers_as_possible_take_part() -> None:
    offers = [Seat("a", 1), Seat("b", 1), Seat("c", 1), Seat("c", 2), Seat("c", 3)]
    assert gang.choose(offers, 4, "a") == (Seat("a", 1), Seat("c", 1), Seat("c", 2), Seat("c", 3))


def test_what_all_workers_together_have_decides_whether_slots_are_kept() -> None:
    workers = [Identity("a", 1, "h", 1, "", "", "0,1,2", 4), Identity("b", 1, "h", 2, "", "", "", 2)]
    assert gang.capacity(Task(id="x", command="true"), workers) == 6
    assert gang.capacity(Task(id="x", command="true", gpus=1), workers) == 3
    assert gang.capacity(Task(id="x", command="true", gpus=2), workers) == 1


def test_cores_and_memory_count_where_they_are_known() -> None:
    known = Identity("a", 1, "h", 1, "", "", "", 4, cpus=2, mem=6 << 30)
    unknown = Identity("b", 1, "h", 2, "", "", "", 3)
    assert gang.capacity(Task(id="x", command="true", cpus=1), [known, unknown]) == 2 + 3
    assert gang.capacity(Task(id="x", command="true", cpus=4), [known, unknown]) == 0 + 3
    assert gang.capacity(Task(id="x", command="true", cpus=1, mem=4 << 30), [known]) == 1


def test_a_better_task_takes_a_kept_slot_at_once_and_a_later_one_after_the_wait() -> None:
    kept = (0, Place(QUEUED, "20261102"))
    assert gang.may_take((0, Place(QUEUED, "20261101")), kept, False)
    assert gang.may_take((0, Place(QUEUED, "20261103", 5)), kept, False)
    assert not gang.may_take((0, Place(QUEUED, "20261103")), kept, False)
    assert not gang.may_take((1, Place(QUEUED, "20261101")), kept, False)
    assert gang.may_take((1, Place(QUEUED, "20261103")), kept, True)


def test_each_time_others_went_first_the_gang_is_waited_for_twice_as_long() -> None:
    wait = Wait(60.0, 0.0)
    assert not wait.is_over(offered_at=10.0, now=70.0)
    assert wait.is_over(offered_at=10.0, now=70.5)
    again = wait.overtaken(71.0)
    assert again == Wait(120.0, 71.0)
    assert again.overtaken(71.5) == again, "slots that are given away together count once"
    assert again.overtaken(200.0).seconds == 240.0


def test_each_rank_knows_its_place() -> None:
    go = go_for(Seat("b", 3), Seat("b", 4), Seat("a", 1))
    found = gang.environment(go, Seat("b", 4))
    assert {key: found[key] for key in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK")} == {
        "RANK": "1",
        "WORLD_SIZE": "3",
        "LOCAL_RANK": "1",
        "LOCAL_WORLD_SIZE": "2",
        "NODE_RANK": "0",
    }
    last = gang.environment(go, Seat("a", 1))
    assert (last["PADDOCK_RANK"], last["LOCAL_RANK"], last["NODE_RANK"]) == ("2", "0", "1")
    assert (last["PADDOCK_RENDEZVOUS"], last["MASTER_PORT"]) == ("/q/rendezvous", "4000")


def test_the_workers_own_rank_is_not_its_tasks() -> None:
    environ = {"SLURM_PROCID": "3", "SLURM_STEP_ID": "0", "RANK": "3", "OMPI_COMM_WORLD_RANK": "3", "PMI_SIZE": "8"}
    kept = {"SLURM_JOB_ID": "77", "SLURM_JOB_END_TIME": "9", "FRANK": "x", "PATH": "/bin"}
    assert without_rank({**environ, **kept}) == kept


@pytest.mark.parametrize(
    ("results", "outcome", "rank"),
    [
        ([(0, 0, "itself"), (1, 0, "itself")], "done", 0),
        ([(1, 256, "itself"), (0, 15, "ended with the others")], "failed", 1),
        ([(0, 256, "itself"), (1, None, "lost")], "lost", 1),  # the others only failed because of it
        ([(0, 256, "itself"), (1, 15, "requeued")], "requeued", 1),
        ([(0, 15, "ended with the others"), (1, 9, "fenced")], "fenced", 1),
        ([(0, 15, "ended with the others"), (1, 15, "timed out")], "timed out", 1),
        ([(0, 15, "ended with the others"), (1, None, "not run")], "failed", 1),
        ([(2, 256, "itself"), (0, 256, "itself")], "failed", 2),  # the first one seen
    ],
)
def test_the_attempt_ends_as_one(results: list[tuple[int, int | None, str]], outcome: str, rank: int) -> None:
    found, deciding = gang.verdict([Result(number, "w", status=status, how=how) for number, status, how in results])
    assert (found, deciding.rank) == (outcome, rank)


def test_a_failed_rank_or_the_leader_ends_the_others() -> None:
    a, b, old = Seat("a", 1), Seat("b", 1), Seat("b", 0)
    go, mine = go_for(a, b), Token("lead", 1)
    assert not gang.must_end(Gang(results={a: (0, True)}), go, mine)
    assert gang.must_end(Gang(results={a: (0, False)}), go, mine)
    assert gang.must_end(Gang(stop=frozenset([mine])), go, mine)
    assert not gang.must_end(Gang(results={old: (0, False)}, stop=frozenset([Token("x", 9)])), go, mine)


def test_the_leader_waits_for_the_living_only() -> None:
    a, b, c = Seat("a", 1), Seat("b", 1), Seat("c", 1)
    found = Gang(ranks={a: 0, b: 1, c: 2}, results={a: (0, True)})
    assert gang.missing(found, go_for(a, b, c), lambda worker: worker == "c") == ([b], [c])
