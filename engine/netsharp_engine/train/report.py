"""The result of measuring a network on rows, beside a trivial baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netsharp_engine import stored

PERCENT = frozenset(("accuracy",))
LABELS = {
    "accuracy": "accuracy",
    "log_loss": "log-loss",
    "mean_error": "MeanErr",
    "auc": "AUC",
    "rmse": "RMSE",
    "r2": "R2",
}


@dataclass(slots=True)
class Report:
    """Figures of a network on some rows, beside those of a trivial answer.

    Attributes
    ----------
    part : str
        Which rows: "training", "validation", "test".
    rows : int
        How many.
    loss : float or None
        The mean loss.
    metrics : dict of str to float
        "accuracy", "log_loss", "auc" (two classes) and "mean_error" (more), or "rmse" and "r2".
    baseline : dict of str to float
        The same figures for always answering the most frequent class, or the mean.
    classes : tuple of str, or None
        The names of the classes; None for a regression.
    confusion : list of lists of float, or None
        ``confusion[i][j]`` counts, by weight, the rows of class i that were taken for class j.
        None for a regression, and for more classes than ``docs/limits.md`` says.

    Since
    -----
    0.1
    """

    part: str
    rows: int
    loss: float | None
    metrics: dict[str, float]
    baseline: dict[str, float] = field(default_factory=dict)
    classes: tuple[str, ...] | None = None
    confusion: list[list[float]] | None = None

    def lines(self) -> list[str]:
        """Return the report for people: one line per figure, then the confusion matrix if it is
        small.
        """
        answer = "the mean" if self.classes is None else "the most frequent class"
        lines = [f"{self.part}: {self.rows:,} rows (in brackets: always answering {answer})"]
        if self.loss is not None:
            lines.append(f"  loss      {self.loss:.6g}")
        for name, value in self.metrics.items():
            beside = f"  ({_shown(name, self.baseline[name])})" if name in self.baseline else ""
            lines.append(f"  {LABELS.get(name, name):<9} {_shown(name, value)}{beside}")
        if self.confusion is not None and self.classes is not None and len(self.classes) <= 12:
            lines += confusion_lines(self.classes, self.confusion)
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        values: dict[str, Any] = {
            "part": self.part,
            "rows": self.rows,
            "loss": self.loss,
            "metrics": self.metrics,
            "baseline": self.baseline,
            "classes": None if self.classes is None else list(self.classes),
            "confusion": self.confusion,
        }
        return {name: value for name, value in values.items() if value is not None}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Report:
        """Return the report whose ``to_json()`` this is; raises ValueError on other values."""
        classes = stored.items(values, "classes") if "classes" in values else None
        confusion = stored.items(values, "confusion") if "confusion" in values else None
        rows = [stored.items({"confusion": row}, "confusion") for row in confusion or ()]
        return cls(
            stored.text(values, "part"),
            stored.whole(values, "rows"),
            stored.number(values, "loss", finite=False) if "loss" in values else None,
            stored.numbers(values, "metrics", finite=False),
            stored.numbers(values, "baseline", finite=False),
            None if classes is None else tuple(stored.as_text(each, "class") for each in classes),
            None
            if confusion is None
            else [[stored.as_number(each, "confusion") for each in row] for row in rows],
        )


def _shown(name: str, value: float) -> str:
    return f"{value:.2%}" if name in PERCENT else f"{value:.6g}"


def confusion_lines(classes: Sequence[str], confusion: Sequence[Sequence[float]]) -> list[str]:
    """Return the confusion matrix as text: a row per true class, a column per predicted one."""
    cells = [[f"{value:g}" for value in row] for row in confusion]
    shown = [name if len(name) <= 14 else name[:13] + "…" for name in classes]
    width = max(len(cell) for cell in [*shown, *(cell for row in cells for cell in row)])
    left = max(len(name) for name in [*shown, "true"])
    lines = ["  confusion (rows: true class, columns: predicted)"]
    lines.append(f"  {'':<{left}} " + " ".join(f"{name:>{width}}" for name in shown))
    for name, row in zip(shown, cells, strict=True):
        lines.append(f"  {name:<{left}} " + " ".join(f"{cell:>{width}}" for cell in row))
    return lines
