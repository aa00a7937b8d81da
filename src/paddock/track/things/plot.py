"""Charts, as wandb.plot makes them: tables that know how they are to be drawn. The data is what is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from paddock.errors import UsageError
from paddock.track.things.media import Table


class Plot(Table):
    """A table, and which of its columns make which chart."""

    def __init__(self, kind_of_plot: str, title: str | None, table: Table, **fields: str) -> None:
        missing = [name for name in fields.values() if name not in table.columns]
        if missing:
            raise UsageError(f"The table has no column {missing[0]!r}.", hint=f"It has: {', '.join(table.columns)}.")
        super().__init__(columns=table.columns, data=table.data)
        self.plot = {"type": kind_of_plot, "title": title or "", **fields}

    def facts(self) -> dict[str, Any]:
        return {**super().facts(), "plot": self.plot}


def line(table: Any, x: str, y: str, stroke: str | None = None, title: str | None = None, **_: Any) -> Plot:
    return Plot("line", title, _table(table), x=x, y=y, **({"stroke": stroke} if stroke else {}))


def scatter(table: Any, x: str, y: str, title: str | None = None, **_: Any) -> Plot:
    return Plot("scatter", title, _table(table), x=x, y=y)


def bar(table: Any, label: str, value: str, title: str | None = None, **_: Any) -> Plot:
    return Plot("bar", title, _table(table), label=label, value=value)


def histogram(table: Any, value: str, title: str | None = None, **_: Any) -> Plot:
    return Plot("histogram", title, _table(table), value=value)


def line_series(
    xs: Any, ys: Any, keys: Sequence[str] | None = None, title: str | None = None, xname: str = "x", **_: Any
) -> Plot:
    """Several lines: one list of x for all of them, or one for each."""
    lines = [_plain(values) for values in ys]
    across = _plain(xs)
    shared = not across or not isinstance(across[0], (list, tuple))
    names = [str(key) for key in keys] if keys else [f"line {number}" for number in range(len(lines))]
    rows = [
        [x, name, y]
        for number, (name, values) in enumerate(zip(names, lines, strict=True))
        for x, y in zip(across if shared else across[number], values, strict=False)
    ]
    return Plot("line", title, Table([xname, "line", "y"], rows), x=xname, y="y", stroke="line")


def confusion_matrix(
    probs: Any = None,
    y_true: Any = None,
    preds: Any = None,
    class_names: Any = None,
    title: str | None = None,
    **_: Any,
) -> Plot:
    """How often each class was taken for which. Classes are numbers; `preds` are numbers too, or `probs` rows."""
    if y_true is None or (probs is None) == (preds is None):
        raise UsageError("confusion_matrix() needs y_true, and either probs or preds.")
    truth = _plain(y_true)
    taken = [row.index(max(row)) for row in map(_plain, _plain(probs))] if preds is None else _plain(preds)
    if len(truth) != len(taken):
        raise UsageError(f"There are {len(truth)} true classes and {len(taken)} predicted ones.")
    size = len(class_names) if class_names is not None else int(max([*truth, *taken], default=-1)) + 1
    names = [str(name) for name in class_names] if class_names is not None else [f"Class {i}" for i in range(size)]
    counts: dict[tuple[int, int], int] = {}
    for pair in zip(map(int, truth), map(int, taken), strict=True):
        if not (min(pair) >= 0 and max(pair) < size):
            raise UsageError(f"The class {max(pair)} is not one of the {size} classes.")
        counts[pair] = counts.get(pair, 0) + 1
    rows = [[names[a], names[p], counts.get((a, p), 0)] for a in range(size) for p in range(size)]
    table = Table(["Actual", "Predicted", "nPredictions"], rows)
    return Plot("confusion_matrix", title, table, x="Predicted", y="Actual", value="nPredictions")


def pr_curve(
    y_true: Any = None,
    y_probas: Any = None,
    labels: Any = None,
    classes_to_plot: Any = None,
    interp_size: int = 21,
    title: str | None = None,
    **_: Any,
) -> Plot:
    """Precision over recall, one class against the rest: the best precision at each of `interp_size` recalls."""
    rows = []
    for name, marks in _one_against_rest(y_true, y_probas, labels, classes_to_plot):
        positives = sum(hit for _, hit in marks)
        points = [(tp / positives if positives else 0.0, tp / (tp + fp)) for tp, fp in _counts(marks)]
        for place in range(interp_size):
            recall = place / max(interp_size - 1, 1)
            best = max((precision for r, precision in points if r >= recall - 1e-12), default=0.0)
            rows.append([name, best, recall])
    return Plot(
        "pr_curve", title, Table(["class", "precision", "recall"], rows), x="recall", y="precision", stroke="class"
    )


def roc_curve(
    y_true: Any = None,
    y_probas: Any = None,
    labels: Any = None,
    classes_to_plot: Any = None,
    title: str | None = None,
    **_: Any,
) -> Plot:
    """The share of hits over the share of false alarms, one class against the rest."""
    rows = []
    for name, marks in _one_against_rest(y_true, y_probas, labels, classes_to_plot):
        positives = sum(hit for _, hit in marks)
        negatives = len(marks) - positives
        rows.append([name, 0.0, 0.0])
        rows += [[name, fp / (negatives or 1), tp / (positives or 1)] for tp, fp in _counts(marks)]
    return Plot("roc_curve", title, Table(["class", "fpr", "tpr"], rows), x="fpr", y="tpr", stroke="class")


def _one_against_rest(
    y_true: Any, y_probas: Any, labels: Any, wanted: Any
) -> Iterable[tuple[str, list[tuple[float, bool]]]]:
    """For each class its name, and for each sample the probability it was given and whether it is of that class."""
    if y_true is None or y_probas is None:
        raise UsageError("y_true and y_probas are needed.")
    truth, rows = _plain(y_true), [_plain(row) for row in _plain(y_probas)]
    if len(truth) != len(rows):
        raise UsageError(f"There are {len(truth)} true classes and {len(rows)} rows of probabilities.")
    # As scikit-learn has it: the columns are the classes in their order; whole numbers count the columns themselves.
    width = len(rows[0]) if rows else 0
    known = sorted(set(truth))
    classes = known if len(known) == width else list(range(width))
    keep = set(_plain(wanted)) if wanted is not None else set(classes)
    for column, kind in enumerate(classes):
        if kind in keep:
            name = str(labels[column]) if labels is not None else str(kind)
            yield name, [(float(row[column]), value == kind) for value, row in zip(truth, rows, strict=True)]


def _counts(marks: list[tuple[float, bool]]) -> list[tuple[int, int]]:
    """True and false positives as the threshold falls, one pair for each different probability."""
    found: list[tuple[int, int]] = []
    tp = fp = 0
    last: float | None = None
    for chance, hit in sorted(marks, key=lambda mark: -mark[0]):
        tp, fp = tp + hit, fp + (not hit)
        if chance == last:
            found[-1] = (tp, fp)
        else:
            found.append((tp, fp))
        last = chance
    return found


def _table(given: Any) -> Table:
    return given if isinstance(given, Table) else Table(data=given)


def _plain(values: Any) -> list[Any]:
    detach = getattr(values, "detach", None)
    source = detach().cpu() if callable(detach) else values
    tolist = getattr(source, "tolist", None)
    return list(tolist() if callable(tolist) else source)
