"""paddock ls"""

from __future__ import annotations


def ids(program, *arguments: str) -> list[str]:
    return program("ls", "-q", *arguments).out.split()


def test_runs_are_listed_newest_first(program, digits):
    assert ids(program) == ["cc1", "aa0", "bb1", "aa1", "aa2", "aa3"]


def test_a_query_in_one_word_or_in_several_chooses(program, digits):
    assert ids(program, "lr<0.1") == ["aa2", "aa3"]
    assert ids(program, "project=digits", "state=finished", "tag:base") == ["aa0", "aa1"]
    assert ids(program, "best.acc>0.9 or state=failed") == ["bb1", "aa1"]
    assert ids(program, "name~digits-[01]", "seed=1") == ["aa1"]


def test_sorting_and_limits(program, digits):
    assert ids(program, "--sort", "-best.acc", "--limit", "2") == ["aa1", "aa0"]
    assert ids(program, "-s", "config.lr,-seed", "state=finished") == ["aa3", "aa2", "aa1", "aa0"]


def test_the_usual_columns_show_what_differs_and_the_metrics(program, digits):
    header, *rows = program("ls").out.splitlines()
    names = header.split()
    assert names[:6] == ["id", "name", "project", "state", "created", "duration"]
    assert {"lr", "seed", "loss", "acc", "dropped"} <= set(names)
    assert "model.depth" not in names  # the same everywhere
    assert len(rows) == 6


def test_columns_can_be_named_or_added(program, digits):
    assert program("ls", "-c", "id,lr,best.acc", "seed=0 lr=0.1").out.splitlines() == [
        "id    lr  best.acc",
        "aa0  0.1       0.9",
    ]
    assert "model.depth" in program("ls", "-c", "+model.depth").out.splitlines()[0]
    assert program("ls", "--json", "-c", "id,lr", "id=aa0").json["runs"] == [{"id": "aa0", "lr": 0.1}]


def test_a_column_or_sort_key_that_no_run_has_is_named_with_the_near_ones(program, digits):
    result = program("ls", "-c", "id,model.dept")
    assert result.code == 3 and "'model.depth'" in result.err
    assert program("ls", "--sort", "best.ac").code == 3


def test_json_has_the_whole_row(program, digits):
    found = program("ls", "--json", "id=bb1").json
    (run,) = found["runs"]
    assert found["total"] == 1
    assert (run["state"], run["reason"], run["dropped"]) == ("failed", "ValueError: loss is nan", 2)
    assert run["metrics"]["loss"]["max"] == 1.0


def test_nothing_found_is_said_beside_the_result(program, digits):
    result = program("ls", "lr=77")
    assert (result.code, result.out, result.err) == (0, "", "No run fits.\n")
    assert program("ls", "lr=77", "--json").json == {"runs": [], "total": 0, "unreadable": []}
