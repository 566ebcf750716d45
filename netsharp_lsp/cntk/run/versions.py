"""The release of CNTK that a run is for: the one that is set, else the lowest that knows every word
that the run uses. Reports nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_lsp.cntk.brainscript.reading.syntax import Text
from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.options import TOP
from netsharp_lsp.cntk.configuration.scope import DEFAULT
from netsharp_lsp.cntk.library.versions import (
    ARGUMENTS,
    COUNTED,
    COUNTS,
    VERSIONED,
    of_count,
    of_function,
    of_parameter,
    of_start,
)
from netsharp_lsp.cntk.ndl import syntax
from netsharp_lsp.cntk.ndl.functions import COUNTS as NDL_COUNTS
from netsharp_lsp.cntk.ndl.functions import function_of
from netsharp_lsp.cntk.networks.faults import Place
from netsharp_lsp.cntk.versions import ALWAYS, FIRST, LAST, Releases, rank

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from netsharp_lsp.cntk.brainscript.analysis.scopes import Application, Signature
    from netsharp_lsp.cntk.configuration.meaning.usage import Visit
    from netsharp_lsp.cntk.configuration.options import Block, Option
    from netsharp_lsp.cntk.configuration.scope import Found, Scope
    from netsharp_lsp.cntk.configuration.sources import SourcePlace
    from netsharp_lsp.cntk.ndl.functions import NdlFunction
    from netsharp_lsp.cntk.ndl.syntax import NdlCall, NdlScript
    from netsharp_lsp.cntk.run.programs import ReadProgram

#: How a run's release is known.
SET, DERIVED, SUPPOSED = "set", "derived", "supposed"


class VersionedWord(NamedTuple):
    """A word that not every release knows: its description, its place and its releases. `stops`: a
    release that does not know it stops there, sooner or later; `surely`: it certainly does;
    `counts`: it is a number of arguments, in which libraries differ.
    """

    shown: str
    place: Place
    known: Releases
    stops: bool
    surely: bool
    counts: bool = False


class Version(NamedTuple):
    """The release that a run is for, how it is determined, and the words that not all releases
    know.

    `deciding` is the word that requires the release, None where none does.
    """

    name: str
    why: str
    words: tuple[VersionedWord, ...]
    deciding: VersionedWord | None
    has_later_library: bool

    @property
    def because(self) -> str:
        """Return the reason for the release, in words that follow its name."""
        if self.why == SET:
            return "as set in the settings"
        if self.deciding is None:
            return "as no word requires a later one"
        return f"the lowest that knows {self.deciding.shown}"

    @property
    def as_json(self) -> dict[str, str]:
        """Return the release as in JSON reports."""
        return {"name": self.name, "known": self.why, "because": self.because}


def version_of(given: str, words: Iterable[VersionedWord]) -> Version:
    """Return the release of a run by its settings, if they set it, and by its words."""
    words = tuple(words)
    deciding = max(words, key=lambda one: rank(one.known.since), default=None)
    if deciding is not None and deciding.known.since == FIRST:
        deciding = None
    name = given or (deciding.known.since if deciding is not None else FIRST)
    why = SET if given else SUPPOSED if deciding is None else DERIVED
    earlier = any(one.known.until != LAST for one in words if one.counts)
    has_later_library = (name != FIRST or deciding is not None) and not earlier
    return Version(name, why, words, deciding, has_later_library)


def words_of_options(visits: Iterable[Visit], root: Scope) -> Iterator[VersionedWord]:
    """Yield the options, and values of options, that not every release knows; each place once."""
    visits = list(visits)
    is_run = any(visit.command.listed for visit in visits)
    tables: list[tuple[Block, Scope, bool]] = [(TOP, root, True)] if is_run else []
    tables += [(one.table, one.scope, one.command.listed) for one in visits if one.table.versioned]
    seen: set[tuple[str, Place]] = set()
    for table, scope, listed in tables:
        for key, option in table.versioned:
            found = scope.look_up(key, climb=not option.here)
            if found is None or found.problem is not None or found.text.text == DEFAULT:
                continue
            for word in _of_option(option, found, listed):
                if (word.shown, word.place) not in seen:
                    seen.add((word.shown, word.place))
                    yield word


def _of_option(option: Option, found: Found, listed: bool) -> Iterator[VersionedWord]:
    if option.known != ALWAYS:
        place = _placed(found.entry.parts[-1].key)
        yield VersionedWord(f"the option {option.name}", place, option.known, False, listed)
    if not option.words:
        return
    for one in elements(found.text) or () if option.each else (found.text,):
        value = one.text.decode("utf-8", "replace").strip()
        known = option.word(value)
        if known != ALWAYS:
            place = _placed(one.place(0, len(one)))
            yield VersionedWord(f"{option.name}={value}", place, known, True, listed)


def _placed(place: SourcePlace) -> Place:
    return Place(place.source.name, place.start, place.end)


def words_of_texts(texts: Iterable[ReadProgram]) -> Iterator[VersionedWord]:
    """Yield the words of BrainScript that not every release knows: functions of the library,
    parameters, ways to start a parameter.
    """
    for text in texts:
        for use in text.program.uses_named(VERSIONED):
            declaration = use.declaration
            if declaration is None or not declaration.library:
                continue
            known = of_function(declaration.qualified)
            if known != ALWAYS:
                shown = f"'{declaration.qualified}'"
                yield VersionedWord(shown, text.outside(use.place), known, True, use.eager)
        for application in text.program.applications:
            if not _has_versioned_arguments(application):
                continue
            signature = text.program.signature(application)
            declared = signature.declaration if signature is not None else None
            if signature is not None and declared is not None and declared.library:
                yield from _of_call(text, application, signature)


def _has_versioned_arguments(application: Application) -> bool:
    """Return whether a call has arguments that not every release accepts."""
    given = application.call.arguments
    if any(one.name in ARGUMENTS or one.name == "init" for one in given):
        return True
    return sum(not one.name for one in given) in COUNTED


def _of_call(
    text: ReadProgram, application: Application, signature: Signature
) -> Iterator[VersionedWord]:
    call, function = application.call, signature.name
    for one in call.arguments:
        known = of_parameter(function, one.name) if one.name else ALWAYS
        if known != ALWAYS:
            start = one.place.start
            place = one.place._replace(end=start + len(one.name.encode()))
            shown = f"'{one.name}' of {function}"
            yield VersionedWord(shown, text.outside(place), known, True, application.eager)
        value = one.value
        if one.name == "init" and isinstance(value, Text):
            known = of_start(value.value)
            if known != ALWAYS:
                shown = f"init='{value.value}'"
                place = text.outside(value.place)
                yield VersionedWord(shown, place, known, True, application.eager)
    if function in COUNTS:
        count = sum(not one.name for one in call.arguments)
        known = of_count(function, count)
        if known != ALWAYS:
            shown = f"{function} with {count} arguments by position"
            place = text.outside(call.function.place)
            yield VersionedWord(shown, place, known, True, application.eager, counts=True)


def words_of_ndl(scripts: Iterable[NdlScript]) -> Iterator[VersionedWord]:
    """Yield the words of NDL that not every release knows: functions, their options, arguments that
    were added. A macro with a function's name replaces it.
    """
    scripts = list(dict.fromkeys(scripts))
    macros = {one.name.text.lower() for script in scripts for one in script.definitions()}
    for script in scripts:
        for call in script.calls():
            function = function_of(call.name.text)
            if function is not None and call.name.text.lower() not in macros:
                yield from _of_ndl_call(script, call, function)


def _of_ndl_call(
    script: NdlScript, call: NdlCall, function: NdlFunction
) -> Iterator[VersionedWord]:
    name = call.name
    place = script.place(name.start, name.end)
    if function.known != ALWAYS:
        yield VersionedWord(f"'{function.name}' of NDL", place, function.known, True, True)
    count, since = NDL_COUNTS.get(function.name, (0, ALWAYS))
    options = [one for one in call.arguments if isinstance(one, syntax.Option)]
    if count and len(call.arguments) - len(options) >= count:
        shown = f"{function.name} with {count} arguments"
        yield VersionedWord(shown, place, since, True, True)
    known = {name.lower(): choice.known for name, choice in function.options.items()}
    for one in options:
        releases = known.get(one.name.text.lower(), ALWAYS)
        if releases != ALWAYS:
            shown = f"the option {one.name.text} of {function.name}"
            at = script.place(one.name.start, one.name.end)
            yield VersionedWord(shown, at, releases, False, True)
