"""Keys in, state out: what each key means, and when something is ordered."""

from __future__ import annotations

from paddock.monitor.console.state import Answer, Cancel, Quit, Shown
from tests.unit.monitor.console.pictures import Pressed, busy, lines, question


def test_a_selection_moves_and_stays_with_its_run_when_others_come() -> None:
    console = Pressed(busy())
    console("j", "down", "k")
    assert console.state.chosen["runs"] == "bb2"
    console.now = busy(runs=busy().runs[1:])  # the first one is gone
    console("down")
    assert console.state.chosen["runs"] == "cc3"
    console("G")
    assert console.state.chosen["runs"] == "ee5"
    console("pgdn", "down")
    assert console.state.chosen["runs"] == "ee5"
    console("g")
    assert console.state.chosen["runs"] == "bb2"


def test_tab_goes_round_the_panels_and_numbers_go_to_one() -> None:
    console = Pressed(busy())
    assert [console("tab").panel for _ in range(6)] == ["tasks", "workers", "hosts", "watches", "lines", "runs"]
    assert console("backtab").panel == "lines" and console("3").panel == "workers" and console("9").panel == "workers"


def test_cancelling_asks_and_no_is_the_default() -> None:
    console = Pressed(busy())
    assert console("c").mode == "confirm"
    for key in ("enter", "n", "esc", "q", "x"):
        console.state = Pressed(busy())("c")
        state = console(key)
        assert state.mode == "browse" and state.message == "Nothing was cancelled."
    assert console.orders == []
    console("c", "y")
    assert console.orders == [Cancel("aa1")]


def test_what_is_over_cannot_be_cancelled() -> None:
    console = Pressed(busy())
    assert console("G", "c").mode == "browse" and "over" in console.state.message
    assert console("5", "c").mode == "browse" and console.orders == []


def test_a_waiting_task_can_be_cancelled() -> None:
    console = Pressed(busy())
    console("2", "j", "c", "y")
    assert console.orders == [Cancel("t-2")]


def test_cancelling_from_the_details_leads_back_to_them() -> None:
    console = Pressed(busy())
    console("down", "enter", "c")
    assert console.state.mode == "confirm" and console.state.shows_details
    assert console("n").mode == "details" and console.state.subject == "bb2"
    assert console("esc").mode == "browse"


def test_a_question_is_answered_by_choice_or_by_number() -> None:
    console = Pressed(busy(questions=(question(choices=("yes", "no")),)))
    console("a")
    console.type("maybe")
    assert "yes, no" in console("enter").message and console.state.mode == "answer" and console.orders == []
    console("2", "enter")
    assert console.orders == [Answer("aa1", "q1", "no")] and console.state.mode == "browse"


def test_an_answer_can_be_edited_and_given_up() -> None:
    console = Pressed(busy(questions=(question(),)))
    console("a")
    console.type("lr 0.1")
    console("backspace", "2", "enter")
    assert console.orders == [Answer("aa1", "q1", "lr 0.2")]
    assert console("a", "x", "esc").mode == "browse" and len(console.orders) == 1


def test_a_question_that_somebody_else_has_answered_is_let_go() -> None:
    console = Pressed(busy(questions=(question(),)))
    console("a", "x")
    console.now = busy()
    assert "Somebody else" in console("enter").message and console.orders == []
    assert "Nobody asks" in console("a").message


def test_letters_are_orders_only_where_nothing_is_typed() -> None:
    console = Pressed(busy())
    console("/")
    console.type("quick c")
    assert console.state.filter.text == "quick c" and console.orders == []
    assert console("enter").mode == "browse" and console("q").mode == "browse"
    assert console.orders == [Quit()]


def test_a_filter_narrows_runs_while_it_is_typed_and_escape_takes_it_away() -> None:
    console = Pressed(busy(), lines("mine") + lines("other", run="zz9"))
    console("/")
    console.type("state:lost")
    assert Shown(console.now, console.lines, console.state).ids("runs") == ["cc3"]
    console("esc")
    assert len(Shown(console.now, console.lines, console.state).runs) == 5
    console("/")
    console.type("host:node1 aa1")
    shown = Shown(console.now, console.lines, console.state)
    assert shown.ids("runs") == ["aa1"] and [line.text for line in shown.lines] == ["mine"]


def test_a_level_is_one_of_log_lines_wherever_it_is_typed() -> None:
    found = lines("fine") + lines("hm", level=30)
    for panel in ("1", "2", "6"):
        console = Pressed(busy(), found)
        console(panel, "/")
        console.type("level:warning")
        shown = Shown(console.now, found, console.state)
        assert [line.text for line in shown.lines] == ["hm"] and len(shown.runs) == 5


def test_lines_have_a_filter_of_their_own() -> None:
    found = lines("step 1", "loss is nan", "step 2")
    console = Pressed(busy(), found)
    console("6", "/")
    console.type("nan|inf")
    shown = Shown(console.now, found, console.state)
    assert [line.text for line in shown.lines] == ["loss is nan"] and len(shown.runs) == 5


def test_a_filter_that_is_no_regular_expression_is_taken_as_it_stands() -> None:
    found = lines("a (b", "c")
    console = Pressed(busy(), found)
    console("6", "/")
    console.type("(b")
    console("enter")
    assert [line.text for line in Shown(console.now, found, console.state).lines] == ["a (b"]
    assert "as it stands" in console.state.message


def test_the_level_of_lines_goes_round() -> None:
    found = lines("fine") + lines("hm", level=30) + lines("bad", level=40)
    console = Pressed(busy(), found)
    counts = []
    for _ in range(5):
        console("l")
        counts.append(len(Shown(console.now, found, console.state).lines))
    assert counts == [3, 3, 2, 1, 3]


def test_ctrl_c_leaves_from_everywhere() -> None:
    for keys in ((), ("/", "x"), ("c",), ("enter",), ("?",)):
        console = Pressed(busy())
        console(*keys, "ctrl-c")
        assert console.orders == [Quit()]
