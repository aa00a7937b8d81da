"""The queue's page: every task in the column of its state, why it waits, and orders that are obeyed."""

from __future__ import annotations

from tests.acceptance.board.eye import Eye, soon
from tests.acceptance.board.laboratory import Laboratory


def column(eye: Eye, state: str) -> list[str]:
    return [
        str(name) for name in eye.page.locator(f"main section[aria-label={state}] .queue-name button").all_inner_texts()
    ]


def tasks(lab: Laboratory, state: str) -> list[str]:
    return [task["title"] for task in lab.get(f"/queues/default/tasks?state={state}")["tasks"]]


def test_every_task_is_in_the_column_of_its_state(eye: Eye, lab: Laboratory) -> None:
    eye.go("/queue/default")
    for state in ("queued", "done", "failed"):
        soon(lambda state=state: sorted(column(eye, state)) == sorted(tasks(lab, state)))
    for waiting in lab.get("/queues/default")["waiting"]:
        eye.wait_text(waiting["why"])


def test_what_is_over_says_how_it_ended(eye: Eye, lab: Laboratory) -> None:
    page = eye.go("/queue/default")
    failed = page.locator("main section[aria-label=failed] li", has_text="bad")
    failed.get_by_text("ValueError: loss is nan at step 39").wait_for()
    failed.get_by_text("took").wait_for()
    done = page.locator("main section[aria-label=done] li", has_text="sweep lr=0.3 seed=0")
    done.get_by_text("until").wait_for()
    failed.get_by_role("button", name="bad").click()
    how = page.locator("dialog tbody td").nth(3)
    how.wait_for()
    assert how.inner_text() == "failed, exit code 1"


def test_tasks_are_paused_resumed_and_given_a_priority(eye: Eye, lab: Laboratory) -> None:
    ids = lab.paddock(
        "submit", "--no-snapshot", "--gpus", "64", "--quiet", "--name", "held", "--grid", "n=1..3", "--", "true"
    )
    names = {task["id"]: task["title"] for task in lab.get("/queues/default/tasks")["tasks"]}
    held = [names[task] for task in ids.split()]
    page = eye.go("/queue/default")
    for name in held:
        page.get_by_label(name, exact=True).click()
    page.get_by_role("button", name="Pause", exact=True).click()
    page.get_by_role("button", name="Pause 3 tasks").click()
    soon(lambda: set(tasks(lab, "paused")) >= set(held))
    soon(lambda: set(column(eye, "paused")) >= set(held))
    for name in held[:2]:
        page.get_by_label(name, exact=True).click()
    page.get_by_role("button", name="Priority", exact=True).click()
    page.locator("dialog input").fill("7")
    page.get_by_role("button", name="Priority 2 tasks").click()
    soon(lambda: [task["priority"] for task in lab.get("/queues/default/tasks?state=paused")["tasks"]].count(7) == 2)
    page.get_by_label("all that are paused").click()
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel 3 tasks").click()
    soon(lambda: not set(tasks(lab, "paused")) & set(held))


def test_a_failed_task_is_looked_at_and_retried_by_keyboard(eye: Eye, lab: Laboratory) -> None:
    task = lab.paddock("submit", "--no-snapshot", "--name", "brittle", "--quiet", "--", "test -e mended").strip()
    soon(lambda: "brittle" in tasks(lab, "failed"))
    page = eye.go("/queue/default")
    page.locator("section[aria-label=failed]").get_by_role("button", name="brittle").press("Enter")
    page.locator("dialog", has_text="test -e mended").wait_for()
    page.keyboard.press("Escape")
    (lab.work / "mended").touch()
    page.locator("section[aria-label=failed]").get_by_label("brittle", exact=True).press("Space")
    page.get_by_role("button", name="Retry", exact=True).press("Enter")
    page.get_by_role("button", name="Retry 1 task").press("Enter")
    soon(lambda: "brittle" in tasks(lab, "done"))
    soon(lambda: "brittle" in column(eye, "done"))
    assert lab.get(f"/runs/{task}")["run"]["attempts"] == 2


def test_a_task_that_waits_says_why_where_it_is_looked_at(eye: Eye, lab: Laboratory) -> None:
    page = eye.go("/queue/default")
    page.get_by_role("button", name="huge").click()
    page.locator("dialog .inspect-why", has_text="needs 64 GPUs").wait_for()


def test_an_address_without_a_queue_becomes_that_of_the_one_that_is_seen(eye: Eye) -> None:
    """Or it would show another queue to whoever gets it, and to oneself as soon as another one is busier."""
    page = eye.go("/runs")
    page.keyboard.type("gq")
    page.wait_for_url("**/queue/*")
    chosen = page.locator("nav[aria-label=Queues] a[aria-current=page]")
    chosen.wait_for()
    assert chosen.get_attribute("href") == page.evaluate("location.pathname")
    page.go_back()
    page.wait_for_url("**/runs")
