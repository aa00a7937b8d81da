"""Media: what a script gives, as the file that is kept."""

from __future__ import annotations

import io
import json
import wave
from pathlib import Path
from typing import Any

import pytest

import paddock
from paddock.errors import UsageError
from paddock.track.things.media import Audio, Html, Image, Media, Molecule, Object3D, Plotly, Table, Video


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "dot.png"
    path.write_bytes(b"\x89PNG")
    return path


def written(media: Media, path: Path) -> bytes:
    media.write(path)
    return path.read_bytes()


def test_a_list_of_media_becomes_numbered_records(read: Any, picture: Path) -> None:
    with paddock.init() as run:
        run.log({"seen": [Image(picture), Image(picture, caption="b")], "pair": (Html("<p>"),)})
    found = read(run.path).records
    assert [(r["name"], r.get("caption")) for r in found["image"]] == [("seen/0", None), ("seen/1", "b")]
    assert [(r["name"], r["type"]) for r in found["media"]] == [("pair/0", "html")]
    assert all((run.path / r["path"]).read_bytes() == b"\x89PNG" for r in found["image"])
    assert "dropped" not in found


def test_a_page_is_its_text_its_path_or_an_open_file(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<b>ü</b>")
    with open(page) as text, open(page, "rb") as raw:
        for given in (page, str(page), text, raw, "<b>ü</b>", io.StringIO("<b>ü</b>")):
            assert written(Html(given), tmp_path / "out").decode() == "<b>ü</b>"
    assert written(Html(str(page), data_is_not_path=True), tmp_path / "out").decode() == str(page)
    assert written(Html("a\0b"), tmp_path / "out") == b"a\0b"


def test_a_figure_of_plotly_becomes_a_page(tmp_path: Path) -> None:
    class Figure:
        def to_html(self, include_plotlyjs: str) -> str:
            return f"<div>{include_plotlyjs}</div>"

    assert written(Plotly(Figure()), tmp_path / "out") == b"<div>cdn</div>"
    with pytest.raises(UsageError, match="not a int"):
        Plotly(3)


def test_samples_become_a_wave_file(tmp_path: Path) -> None:
    np = pytest.importorskip("numpy")
    for samples, channels in ((np.array([0, 0.5, -2.0]), 1), (np.zeros((3, 2), dtype=np.int16), 2), ([0, 1, 2], 1)):
        Audio(samples, sample_rate=8000).write(tmp_path / "a.wav")
        with wave.open(str(tmp_path / "a.wav")) as file:
            assert (file.getnframes(), file.getnchannels(), file.getframerate()) == (3, channels, 8000)
    with pytest.raises(UsageError, match="sample_rate"):
        Audio(np.zeros(3)).write(tmp_path / "a.wav")
    with pytest.raises(UsageError, match="3 dimensions"):
        Audio(np.zeros((1, 1, 1)), 8000).write(tmp_path / "a.wav")


def test_files_keep_their_kind(tmp_path: Path) -> None:
    for kind, name in ((Audio, "a.mp3"), (Video, "v.mp4"), (Object3D, "o.glb"), (Molecule, "m.pdb")):
        path = tmp_path / name
        path.write_bytes(b"as it is")
        media = kind(path, caption="c")
        assert (media.suffix, written(media, tmp_path / "out")) == (path.suffix, b"as it is")
        assert media.facts()["caption"] == "c"
    assert Video(io.BytesIO(b"gif"), format="gif").suffix == ".gif"


def test_points_are_kept_as_numbers(tmp_path: Path) -> None:
    assert json.loads(written(Object3D([[0, 1, 2]]), tmp_path / "out")) == [[0, 1, 2]]


def test_what_cannot_be_made_into_a_file_is_said_and_the_training_goes_on(
    read: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    with paddock.init() as run:
        run.log({"film": Video([[1]]), "page": Html("<p>"), "loss": 1.0})
    assert "A Video cannot be made from a list here. Write it to a file" in capsys.readouterr().err
    found = read(run.path)
    assert found.values("loss") == [1.0]
    assert [record["name"] for record in found.records["media"]] == ["page"]


def test_a_table_has_columns_to_add_and_to_get() -> None:
    table = Table(columns=["a"], data=[[1], [2]], allow_mixed_types=True, log_mode="MUTABLE")
    table.add_column("b", [3, 4])
    assert (table.columns, table.data, table.get_column("b")) == (["a", "b"], [[1, 3], [2, 4]], [3, 4])
    with pytest.raises(UsageError, match="2 rows, this column has 1"):
        table.add_column("c", [1])
    with pytest.raises(UsageError, match="It has: a, b"):
        table.get_column("z")
    empty = Table()
    empty.add_column("x", [1, 2])
    assert empty.data == [[1], [2]]


def test_a_table_becomes_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    frame = Table(columns=["a"], data=[[1], [2]]).get_dataframe()
    assert isinstance(frame, pandas.DataFrame) and frame["a"].tolist() == [1, 2]


def test_pictures_in_a_table_are_files_beside_it(read: Any, picture: Path) -> None:
    with paddock.init() as run:
        run.log({"t": Table(columns=["img", "n"], data=[[Image(picture), 1]])})
    path = run.path / read(run.path).records["table"][0]["path"]
    ((cell, number),) = json.loads(path.read_bytes())["data"]
    assert number == 1
    assert (path.parent / cell["path"]).read_bytes() == b"\x89PNG"


def test_a_frame_or_a_figure_is_logged_as_it_is(read: Any) -> None:
    pandas = pytest.importorskip("pandas")

    class Figure:
        def savefig(self, path: Path, format: str) -> None:
            path.write_bytes(format.encode())

    with paddock.init() as run:
        run.log({"frame": pandas.DataFrame({"a": [1, 2]}), "figure": Figure()})
    found = read(run.path).records
    assert (found["table"][0]["rows"], found["image"][0]["name"]) == (2, "figure")


def test_an_artifact_takes_new_files_tables_and_pictures(picture: Path) -> None:
    artifact = paddock.Artifact("data", type="dataset")
    with artifact.new_file("notes/a.txt") as file:
        file.write("hello")
    artifact.add(Table(columns=["img"], data=[[Image(picture)]]), "preds")
    artifact.add(Image(picture), "media/dot")
    with pytest.raises(UsageError, match="cannot be added"):
        artifact.add(Image(picture))
    with paddock.init() as run:
        kept = run.log_artifact(artifact)
    root = Path(kept.download())
    found = {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}
    assert found == {"notes/a.txt", "preds.json", "preds-0-0.png", "media/dot.png"}
    assert (root / "notes/a.txt").read_text() == "hello"
