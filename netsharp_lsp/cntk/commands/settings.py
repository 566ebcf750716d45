"""The table that CNTK brings to settings: which runs there are, and what somebody else defines."""

from __future__ import annotations

from netsharp_lsp.cntk.run.declared import declared_runs
from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.settings import as_texts, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.workspace import Run

#: The key of the table in settings, and the keys in it.
KEY = "cntk"
_KEYS = ("run", "defines")


class DeclaredExperiments:
    """What settings declare: runs, and names of variables that somebody else gives them.

    Folders of runs are relative to that of the settings.
    """

    __slots__ = ("defines", "runs")

    def __init__(self, runs: tuple[Run, ...] = (), defines: frozenset[str] = frozenset()) -> None:
        self.runs = runs
        self.defines = defines


_NONE = DeclaredExperiments()


def declared_in(settings: Settings) -> DeclaredExperiments:
    """Return what settings declare of experiments."""
    found = settings.of_families.get(KEY, _NONE)
    assert isinstance(found, DeclaredExperiments)
    return found


def read_declared(value: object) -> DeclaredExperiments:
    """Read the table; ValueError, a sentence without the key, where it cannot be used."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a table of run and defines, found {shown(value)}.")
    for key in value:
        if key not in _KEYS:
            raise ValueError(f"has no key '{key}'.{suggestion(key, _KEYS)}")
    defines = frozenset(as_texts(value.get("defines", [])))
    runs = declared_runs(value.get("run", []))
    if isinstance(runs, str):
        raise ValueError(f"is not as it should be: {runs}")
    return DeclaredExperiments(tuple(runs), defines)
