"""The differences between two networks, as plain values; knows no language."""

from __future__ import annotations


class Difference:
    """One difference: `change` is added, removed, changed or renamed; `what` a layer or bundle.

    `name` is the layer's or `Source => Layer`; of a change, `aspect` names what changed, and
    `before` and `after` are its texts; `norms` are their numbers, where the aspect has numbers.
    """

    __slots__ = ("after", "aspect", "before", "change", "name", "norms", "what")

    def __init__(
        self,
        change: str,
        what: str,
        name: str,
        aspect: str = "",
        before: str = "",
        after: str = "",
        *,
        norms: dict[str, float | None] | None = None,
    ) -> None:
        self.change = change
        self.what = what
        self.name = name
        self.aspect = aspect
        self.before = before
        self.after = after
        self.norms = norms


class Comparison:
    """The differences between two networks; `same` when only names or spelling differ.

    `figures`: parameters and multiply-adds before and after, None where unknown.
    """

    __slots__ = ("differences", "figures", "same")

    def __init__(
        self,
        same: bool,
        differences: list[Difference],
        figures: dict[str, tuple[int | None, int | None]],
    ) -> None:
        self.same = same
        self.differences = differences
        self.figures = figures
