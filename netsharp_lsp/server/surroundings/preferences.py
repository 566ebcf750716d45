"""The editor's settings, and the resulting ones for a file; knows no protocol.

For each key of the checker the editor's value wins where it is set, else the nearest
netsharp.toml or pyproject.toml, else the default. Editors send the defaults of all keys along, so
null, an empty list and an empty table count as unset.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from netsharp_lsp.diagnostics.nearest import suggestion
from netsharp_lsp.diagnostics.selection import Selection, unknown_prefix
from netsharp_lsp.ide.answers import HintOptions, LensOptions
from netsharp_lsp.language import known_codes
from netsharp_lsp.settings import ROOTS, Settings, as_roots, assign, known_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.context import Context
    from netsharp_lsp.family import Family

#: The section of an editor's settings that is ours.
SECTION = "netsharp"
#: The checker's keys stand below this one.
CHECK = "check"
#: Where the numbers of `auto` come from, when the editor's settings give them.
ORIGIN = "the editor's settings"
#: Every switch and its default.
SWITCHES = {
    "inlayHints.shapes": True,
    "inlayHints.parameters": True,
    "inlayHints.constants": False,
    "inlayHints.defaults": False,
    "codeLens.enable": True,
    "codeLens.parameters": False,
    "format.onType": False,
}
#: Keys that the editor's extension reads; their values are not validated here.
EDITORS_OWN = ("server", "python", "trace", "detectByContent", "embedded")


@dataclass(frozen=True, slots=True)
class Preferences:
    """The editor's settings for one folder; `check` has the checker's keys `given`.

    `roots` are further folders that files may lead to; those of the whole window count.
    """

    switches: dict[str, bool] = field(default_factory=lambda: dict(SWITCHES))
    check: Settings = field(default_factory=Settings)
    given: frozenset[str] = frozenset()
    roots: tuple[str, ...] = ()

    @property
    def hints(self) -> HintOptions:
        """Which inlay hints to show."""
        names = ("shapes", "parameters", "constants", "defaults")
        return HintOptions(*(self.switches[f"inlayHints.{name}"] for name in names))

    def lenses(
        self, run_file: str | None, *, runs: bool = False, trained: bool = False
    ) -> LensOptions | None:
        """Return the lenses above a document with or without a run file, by whether commands may
        run and whether it is trained; None for none.
        """
        if not self.switches["codeLens.enable"]:
            return None
        return LensOptions(run_file, self.switches["codeLens.parameters"], runs, trained)

    @property
    def formats_on_type(self) -> bool:
        """Return whether to put a declaration in order when it is ended."""
        return self.switches["format.onType"]

    def over(self, file: Settings) -> InForce:
        """Return the settings in effect: the preferences, and a settings file for the others."""
        return InForce(self, file)


@dataclass(frozen=True, slots=True)
class InForce:
    """The settings that hold for the files of one folder."""

    preferences: Preferences
    file: Settings

    @property
    def context(self) -> Context:
        """Sizes, task and host for specifications without other context."""
        return self.preferences.check.context.or_else(self.file.context)

    @property
    def line_ending(self) -> str:
        """Return the line ending of a formatted text; one of `LINE_ENDINGS`."""
        return self._of("line-ending").line_ending

    def keeps_columns(self, family: Family) -> bool:
        """Return whether the columns stay that a person aligned in a text of a family."""
        given = not self.preferences.given.isdisjoint(family.settings)
        return family.keeps_columns(self.preferences.check if given else self.file)

    @property
    def baseline(self) -> str | None:
        """The absolute path of the findings that are known and accepted; None for none."""
        settings = self._of("baseline")
        if settings.baseline is None:
            return None
        return os.path.normpath(os.path.join(settings.directory, settings.baseline))

    @property
    def baseline_settings(self) -> str | None:
        """The settings file that names the baseline; None where the editor does."""
        return self._of("baseline").file

    def selection(self, path: str | None) -> Selection:
        """Return the selection of diagnostics for a file; None if it is not on disk."""
        chosen = Selection(self._of("select").select, self._of("ignore").ignore)
        own = self._of("per-file-ignores").ignores_for(path) if path is not None else ()
        return chosen.then((), own)

    def excludes(self, path: str) -> bool:
        """Return whether a walk leaves a file or folder out, by its absolute path."""
        return self._of("exclude").excludes(path)

    def _of(self, key: str) -> Settings:
        return self.preferences.check if key in self.preferences.given else self.file


def read_preferences(values: object, directory: str) -> tuple[Preferences, list[str]]:
    """Read what an editor sends as the section `netsharp`; and sentences on what cannot be used.

    Keys are nested or joined by dots. Patterns are relative to `directory`.
    """
    preferences = Preferences(check=Settings(directory=directory))
    given: set[str] = set()
    problems: list[str] = []
    roots: tuple[str, ...] = ()
    for key, value in _flat(values):
        if value in (None, [], {}):
            continue
        if key == ROOTS:
            try:
                roots = as_roots(value)
            except ValueError as error:
                problems.append(f"'{SECTION}.{ROOTS}' {error}")
            continue
        problem = _take(preferences, key, value)
        if problem is None:
            given.add(key.removeprefix(f"{CHECK}."))
        else:
            problems.append(problem)
    context = preferences.check.context
    context.origin = dict.fromkeys(context.known(), ORIGIN)
    return Preferences(preferences.switches, preferences.check, frozenset(given), roots), problems


def _flat(values: object, before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield every key with its dots, and its value."""
    if not isinstance(values, dict):
        return
    for name, value in values.items():
        key = f"{before}{name}"
        group = any(known.startswith(f"{key}.") for known in (*SWITCHES, f"{CHECK}."))
        if key.partition(".")[0] in EDITORS_OWN:
            continue
        if group and isinstance(value, dict):
            yield from _flat(value, f"{key}.")
        else:
            yield key, value


def _take(preferences: Preferences, key: str, value: Any) -> str | None:
    """Store one value, or say why it cannot be used."""
    if key in SWITCHES:
        if not isinstance(value, bool):
            return f"'{SECTION}.{key}' must be true or false, found {value!r}."
        preferences.switches[key] = value
        return None
    name = key.removeprefix(f"{CHECK}.")
    if key == name or name not in known_keys():
        known = (*SWITCHES, ROOTS, *(f"{CHECK}.{each}" for each in known_keys()))
        return f"unknown key '{SECTION}.{key}'.{suggestion(key, known)}"
    problem = assign(preferences.check, name, value)
    if problem is not None:
        return problem.replace(f"'{name}'", f"'{SECTION}.{key}'", 1)
    unknown = _unknown_code(name, value)
    return None if unknown is None else f"'{SECTION}.{key}': {unknown}"


def _unknown_code(name: str, value: Any) -> str | None:
    """Return a sentence about a code that no rule has; the value is of the right kind by now."""
    if name == "per-file-ignores":
        return unknown_prefix([code for codes in value.values() for code in codes], known_codes())
    return unknown_prefix(value, known_codes()) if name in ("select", "ignore") else None
