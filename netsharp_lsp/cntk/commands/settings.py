"""The table of CNTK in settings: runs, defaults for all runs, the release of CNTK, how texts are
formatted.
"""

from __future__ import annotations

from netsharp_lsp.cntk.run.declared import declared_runs
from netsharp_lsp.cntk.versions import VERSIONS
from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.settings import as_texts, shown
from netsharp_lsp.workspace import NO_PREMISES, Premises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.settings import Settings
    from netsharp_lsp.workspace import Run

#: The key of the table in settings, and the keys in it.
KEY = "cntk"
_KEYS = ("run", "defines", "version", "keep-columns")
_NAMES = f"{', '.join(_KEYS[:-1])} and {_KEYS[-1]}"


class DeclaredExperiments:
    """The declarations in settings: runs, and defaults for all runs.

    Folders of runs are relative to that of the settings. `keep_columns`: what the author aligned
    stays aligned when a text is formatted.
    """

    __slots__ = ("given", "keep_columns", "runs")

    def __init__(
        self,
        runs: tuple[Run, ...] = (),
        given: Premises = NO_PREMISES,
        keep_columns: bool = True,
    ) -> None:
        self.runs = runs
        self.given = given
        self.keep_columns = keep_columns


_NONE = DeclaredExperiments()


def declared_in(settings: Settings) -> DeclaredExperiments:
    """Return the experiments that settings declare."""
    found = settings.of_families.get(KEY, _NONE)
    assert isinstance(found, DeclaredExperiments)
    return found


def read_declared(value: object) -> DeclaredExperiments:
    """Read the table; ValueError, a sentence without the key, where it cannot be used."""
    if not isinstance(value, dict):
        raise ValueError(f"must be a table of {_NAMES}, found {shown(value)}.")
    for key in value:
        if key not in _KEYS:
            raise ValueError(f"has no key '{key}'.{suggestion(key, _KEYS)}")
    defines = frozenset(as_texts(value.get("defines", [])))
    runs = declared_runs(value.get("run", []))
    if isinstance(runs, str):
        raise ValueError(f"is invalid: {runs}")
    keep_columns = value.get("keep-columns", True)
    if not isinstance(keep_columns, bool):
        raise ValueError(f"needs true or false for keep-columns, found {shown(keep_columns)}.")
    return DeclaredExperiments(tuple(runs), Premises(defines, _version(value)), keep_columns)


def _version(table: dict[str, object]) -> str:
    version = table.get("version", "")
    if "version" in table and version not in VERSIONS:
        raise ValueError(
            f"must name a release of CNTK in 'version': one of {', '.join(VERSIONS)}, as text; "
            f"found {shown(version)}."
        )
    return str(version)
