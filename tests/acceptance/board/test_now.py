"""What happens this minute: what runs, what is lost, who asks, and the answer that goes back."""

from __future__ import annotations

from tests.acceptance.board.eye import Eye, soon
from tests.acceptance.board.laboratory import Laboratory

ASKING = "The loss has plateaued. Lower the learning rate?"


def test_what_runs_is_shown_with_host_and_progress(eye: Eye, lab: Laboratory) -> None:
    now = lab.get("/now")
    eye.go("/now")
    running = next(run for run in now["runs"] if run["name"] == "ask-lr0.1-s0")
    card = eye.page.locator("main article", has_text="ask-lr0.1-s0").filter(has=eye.page.locator("[role=progressbar]"))
    card.first.wait_for()
    assert card.first.locator("[role=progressbar]").get_attribute("aria-valuenow") == "42"
    assert running["host"] in card.first.inner_text()


def test_lost_ones_stand_before_what_runs(eye: Eye, lab: Laboratory) -> None:
    eye.go("/now")
    text = eye.text()
    assert text.index("lose-lr0.1-s0") < text.rindex("ask-lr0.1-s0")
    assert "The loss diverged" in text
    for host in lab.get("/hosts")["hosts"]:
        assert host["name"] in text


def test_a_question_is_answered_and_the_run_goes_on(eye: Eye, lab: Laboratory) -> None:
    """Of a run of its own: the others need the one that waits."""
    asking = lab.python("train.py", "--end", "ask", "--seed", "9")
    page = eye.go("/now")
    card = page.locator("main article", has_text=ASKING).filter(has_text="ask-lr0.1-s9")
    card.get_by_role("button", name="no", exact=True).click()
    soon(lambda: asking.poll() == 0)
    soon(lambda: card.count() == 0)
    soon(lambda: lab.named("ask-lr0.1-s9")["state"] == "finished")  # a server that has just looked does not look again
    assert "the answer is no" in lab.paddock("logs", lab.named("ask-lr0.1-s9")["id"])
