"""Rules about names and macros: spelling, results, definitions."""

from __future__ import annotations

from netsharp_lsp.cntk.migration.networks.network import Unfit
from netsharp_lsp.cntk.migration.rules import AUTOMATIC, CHOICE, PERSON, rule
from netsharp_lsp.cntk.ndl.syntax import Definition, NdlAssignment, NdlCall, Option, Word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo
    from netsharp_lsp.cntk.migration.editing.texts import Text
    from netsharp_lsp.cntk.migration.networks.names import CallSite, ScopedMacro, Symbol
    from netsharp_lsp.cntk.migration.networks.network import MigratedNetwork

    Spelling = tuple[Text, int, int, Symbol]


def _words(network: MigratedNetwork) -> Iterator[Spelling]:
    """Yield every place of a symbol's name, its definition first."""
    for frame in network.names.frames():
        for symbol in frame.symbols.values():
            yield symbol.text, symbol.word.start, symbol.word.end, symbol
    for use in network.names.uses:
        for start, end, meant in use.parts:
            if meant is not None:
                yield use.text, start, end, meant
    for site in network.names.calls:
        for option in site.arguments.options:
            found = site.macro.frame.symbols.get(option.name.text.lower()) if site.macro else None
            if found is not None:
                yield site.text, option.name.start, option.name.end, found


def _renamed(network: MigratedNetwork, code: str, unfit: Unfit) -> Iterator[Edit]:
    """Yield edits that rename, everywhere, the symbols that cannot keep their names for one
    reason.
    """
    for text, start, end, symbol in _words(network):
        renamed = network.facts.renamed.get(symbol.place)
        if renamed is not None and renamed[0] is unfit:
            yield text.edit(code, start, end, renamed[1])


@rule("MG07", CHOICE, everywhere=True)
def named_like_a_macro(network: MigratedNetwork) -> Iterator[Edit]:
    """Rename a variable with the name of a macro that is called in its scope."""
    yield from _renamed(network, "MG07", Unfit.LIKE_A_MACRO)


@rule("MG36", CHOICE, everywhere=True)
def keywords(network: MigratedNetwork) -> Iterator[Edit]:
    """Rename a symbol whose name is a keyword."""
    yield from _renamed(network, "MG36", Unfit.KEYWORD)


@rule("MG42", PERSON, everywhere=True)
def odd_names(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Rename a symbol whose name would continue the statement before it."""
    yield from _renamed(network, "MG42", Unfit.NO_NAME)
    for frame in network.names.frames():
        for symbol in frame.symbols.values():
            renamed = network.facts.renamed.get(symbol.place)
            if renamed is not None and renamed[0] is Unfit.NO_NAME:
                word, name = symbol.word, renamed[1]
                message = (
                    f"'{word.text}' is not a valid name in BrainScript. It is now called '{name}'."
                )
                yield symbol.text.todo("MG42", (word.start, word.end), message)


@rule("MG08", AUTOMATIC, everywhere=True)
def one_spelling(network: MigratedNetwork) -> Iterator[Edit]:
    """Spell a name as at its definition."""
    for text, start, end, symbol in _words(network):
        written = text.data[start:end].decode("utf-8", "replace")
        if written != symbol.word.text and symbol.place not in network.facts.renamed:
            yield text.edit("MG08", start, end, symbol.word.text)
    for site in network.names.calls:
        name = site.call.name
        if site.macro is not None and name.text != site.macro.name:
            yield site.text.edit("MG08", name.start, name.end, site.macro.name)


@rule("MG04", AUTOMATIC)
def result_of_a_macro(network: MigratedNetwork) -> Iterator[Edit]:
    """Select the result of a macro's body."""
    for macro in network.names.macros.values():
        if not macro.is_record or macro.definition.body is None:
            continue
        yield from _named_result(macro)
        if not network.is_kept_record(macro):
            end = macro.definition.body.end
            selected = network.selection(macro) or ".result"
            yield macro.text.edit("MG04", end, end, selected)


def _named_result(macro: ScopedMacro) -> Iterator[Edit]:
    """Name the last statement, where it is the result and has no name."""
    last = macro.statements[-1] if macro.statements else None
    if macro.result is None and isinstance(last, NdlAssignment) and last.name is None:
        yield macro.text.edit("MG04", last.start, last.start, " result = ")


@rule("MG04b", PERSON)
def keep_records(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Keep a macro's record, and select its result where that is meant."""
    aliases = _aliases(network)
    for use in network.names.uses:
        selected = network.selection_of(use)
        if selected and use.text.where(use.word.start, use.word.end) not in aliases:
            yield use.text.edit("MG04b", use.word.end, use.word.end, selected)
    for site in network.names.calls:
        if site.macro is None or not network.is_kept_record(site.macro):
            continue
        if site.owner is None or site.owner.name is None:
            end = site.call.end
            yield site.text.edit("MG04b", end, end, network.selection(site.macro))
    yield from _unused_results(network)
    for use in network.unreached:
        symbol = use.parts[0][2]
        if symbol is not None and isinstance(symbol.value, NdlCall):
            spelt = network.spelt(use)
            added = f"\n{spelt.replace('.', '_')} = {spelt}"
            end = symbol.value.end
            yield symbol.text.edit("MG04b", end, end, added)
    for macro in network.names.macros.values():
        if network.is_kept_record(macro):
            name = macro.definition.name
            message = (
                f"Variables inside '{macro.name}' are used from outside, so it returns all of "
                "them. Check whether that is needed."
            )
            yield macro.text.todo("MG04b", (name.start, name.end), message)


def _unused_results(network: MigratedNetwork) -> Iterator[Edit]:
    """Yield members of the network for results of records that are not used otherwise."""
    used = {
        use.parts[-1][2].place
        for use in network.names.uses
        if use.parts[-1][2] is not None and network.selection_of(use)
    }
    for symbol in network.names.top.symbols.values():
        macro = network.names.target(symbol) if symbol.kind == "variable" else None
        if macro is None or not network.is_kept_record(macro) or symbol.place in used:
            continue
        if isinstance(symbol.value, NdlCall):
            end, name = symbol.value.end, network.name_of(symbol)
            added = f"\n{name}Result = {name}{network.selection(macro)}"
            yield symbol.text.edit("MG04b", end, end, added)


def _aliases(network: MigratedNetwork) -> set[tuple[str, int, int]]:
    """Return the places of words that are the whole value of a variable, which then is the same
    record.
    """
    return {
        symbol.text.where(symbol.value.start, symbol.value.end)
        for frame in network.names.frames()
        for symbol in frame.symbols.values()
        if symbol.kind == "variable" and isinstance(symbol.value, Word)
    }


@rule("MG05", AUTOMATIC)
def equals_sign(network: MigratedNetwork) -> Iterator[Edit]:
    """Insert the sign between a macro's parameters and its body."""
    for text, definition in _definitions(network):
        body = definition.body
        if body is not None and not body.short:
            close = text.data.rfind(b")", definition.name.end, body.start)
            yield text.edit("MG05", close + 1, close + 1, " =")


@rule("MG06", AUTOMATIC)
def braces(network: MigratedNetwork) -> Iterator[Edit]:
    """Replace the square brackets of a macro's body."""
    for macro in network.names.macros.values():
        body = macro.definition.body
        if body is None or macro.text.data[macro.opening : macro.opening + 1] != b"[":
            continue
        yield macro.text.edit("MG06", macro.opening, macro.opening + 1, "{")
        yield macro.text.edit("MG06", body.end - 1, body.end, "}")


def _definitions(network: MigratedNetwork) -> Iterator[tuple[Text, Definition]]:
    for text in network.names.texts:
        for definition in text.script.definitions():
            yield text, definition


@rule("MG33", CHOICE)
def options_of_macros(network: MigratedNetwork) -> Iterator[Edit]:
    """Declare an option that is passed to a macro, or drop it if the macro does not read it."""
    for site in network.names.calls:
        yield from _unused_options(network, site)
    for macro in network.names.macros.values():
        table = network.facts.options.get(macro.place, {})
        parameters = {word.text.lower() for word in macro.definition.parameters}
        body = macro.definition.body
        missing = [name for name in table if name not in parameters]
        if not missing or body is None:
            continue
        close = macro.text.data.rfind(b")", macro.definition.name.end, body.start)
        added = [
            f"{macro.frame.symbols[name].word.text if name in macro.frame.symbols else name}"
            f"={table[name]}"
            for name in missing
        ]
        before = ", " if parameters else ""
        yield macro.text.edit("MG33", close, close, before + ", ".join(added))
        if "tag" in missing:
            yield from _pass_tag_on(network, macro)


def _unused_options(network: MigratedNetwork, site: CallSite) -> Iterator[Edit]:
    """Yield edits that drop the options of a macro's call that are not read."""
    if site.macro is None:
        return
    listed = sorted(
        [*site.arguments.positional, *site.arguments.options], key=lambda one: one.start
    )
    dropped = [isinstance(one, Option) and not network.is_read(site.macro, one) for one in listed]
    first_kept = dropped.index(False) if False in dropped else len(listed)
    if first_kept:
        start, end = (
            site.arguments.span(listed[0])[0],
            site.arguments.span(listed[first_kept - 1])[1],
        )
        if first_kept < len(listed):
            end = site.arguments.span(listed[first_kept])[0]
        yield site.text.edit("MG33", start, end, "")
    for one, is_dropped in list(zip(listed, dropped, strict=True))[first_kept:]:
        if is_dropped:
            yield site.text.edit("MG33", *site.arguments.without(one), "")


def _pass_tag_on(network: MigratedNetwork, macro: ScopedMacro) -> Iterator[Edit]:
    """Pass a macro's tag on to the node that it returns."""
    call = network.result_call(macro)
    for site in network.names.calls:
        if site.call is call and site.arguments.option("tag") is None:
            end = site.arguments.last_end
            yield site.text.edit("MG33", end, end, ", tag=tag")
