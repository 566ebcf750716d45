"""Variables of a configuration in files of NDL: BrainScript includes files after substitution, so
the variables become members before the include.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.functions import WORD
from netsharp_lsp.cntk.ndl.syntax import NdlAssignment, Option, Word, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.traced import Use
    from netsharp_lsp.cntk.migration.editing.edits import Edit, Todo
    from netsharp_lsp.cntk.migration.editing.texts import Text
    from netsharp_lsp.cntk.migration.networks.names import CallSite
    from netsharp_lsp.cntk.migration.networks.network import MigratedNetwork

RULE = "MG43"


def use_members(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Yield edits that replace the variables in a network's files by members."""
    spoken = _as_text(network)
    for text in network.names.texts:
        uses = _outermost(text) if text.in_file else []
        words = list(_words(text)) if uses else []
        put: set[int] = set()
        for word in words:
            inside = [use for use in uses if word.start <= use.at and use.end <= word.end]
            as_text = word.quoted or text.where(word.start, word.end)[:2] in spoken
            if inside and (as_text or _is_all(inside, word)):
                put |= {id(use) for use in inside}
                yield from _variable_edits(network, text, word, inside, as_text)
        for use in uses:
            if id(use) not in put and use.end > use.at:
                yield _list_edit(network, text, use, words)


def _is_all(uses: list[Use], word: Word) -> bool:
    return (uses[0].at, uses[0].end) == (word.start, word.end)


def _variable_edits(
    network: MigratedNetwork, text: Text, word: Word, uses: list[Use], as_text: bool
) -> Iterator[Edit]:
    """Yield edits of a word that is a variable, or a string of variables and other parts."""
    statement = None if as_text else _repeats_itself(network, text, word, uses[0].name)
    if statement is not None:
        network.facts.member(uses[0].name, False, text.key)
        yield text.edit(RULE, statement.start, statement.end, "", of_variables=True)
        return
    parts = []
    at = word.start
    for use in uses:
        parts.append(_quoted(text, at, use.at))
        parts.append(network.facts.member(use.name, as_text, text.key))
        at = use.end
    parts.append(_quoted(text, at, word.end))
    span = (word.start - word.quoted, word.end + word.quoted)
    yield text.edit(RULE, *span, " + ".join(filter(None, parts)), of_variables=True)


def _quoted(text: Text, start: int, end: int) -> str:
    """Return a span of a text as BrainScript quotes it; empty for an empty one."""
    return f'"{text.data[start:end].decode("utf-8", "replace")}"' if end > start else ""


def _list_edit(network: MigratedNetwork, text: Text, use: Use, words: list[Word]) -> Edit | Todo:
    """Return the edit of a variable whose value is several words, or a todo where it is part of a
    word.
    """
    if any(use.at <= one.start and one.end <= use.end for one in words):
        name = network.facts.member(use.name, False, text.key)
        return text.edit(RULE, use.at, use.end, name, of_variables=True)
    message = f"The variable '{use.name}' is only a part of a word here. Write the word out."
    return text.todo(RULE, (use.at, use.end), message, blocks=True)


def _repeats_itself(
    network: MigratedNetwork, text: Text, word: Word, variable: str
) -> NdlAssignment | None:
    """Return the statement that assigns a variable to its own name, which the member makes
    redundant.
    """
    for one in text.script.statements:
        if isinstance(one, NdlAssignment) and one.value is word and one.name is not None:
            symbol = network.names.top.symbols.get(variable.lower())
            return one if symbol is not None and symbol.value is word else None
    return None


def _outermost(text: Text) -> list[Use]:
    """Return the variables of a text, without those in the values of others."""
    found: list[Use] = []
    for use in text.script.text.uses:
        if not found or use.at >= found[-1].end:
            found.append(use)
    return found


def _words(text: Text) -> Iterator[Word]:
    waiting = list(text.script.statements)
    for definition in text.script.definitions():
        waiting += definition.body.statements if definition.body is not None else ()
    for statement in waiting:
        value = getattr(statement, "value", None)
        for one in values(value) if value is not None else ():
            if isinstance(one, Word):
                yield one


def _as_text(network: MigratedNetwork) -> set[tuple[str, int]]:
    """Return the places of words that BrainScript takes as strings."""
    found = set()
    for site in network.names.calls:
        for option in site.arguments.options:
            if isinstance(option.value, Word) and _is_word(site, option):
                found.add(site.text.where(option.value.start, option.value.end)[:2])
        form = site.function.form if site.function is not None else ""
        if form == "pooling" and len(site.arguments.positional) > 1:
            kind = site.arguments.positional[1]
            found.add(site.text.where(kind.start, kind.end)[:2])
    return found


def _is_word(site: CallSite, option: Option) -> bool:
    lowered = option.name.text.lower()
    if lowered == "tag":
        return True
    if site.function is None:
        word = option.value
        named = isinstance(word, Word) and site.frame.find(word.text) is not None
        return isinstance(word, Word) and not word.is_number and not named
    return any(
        name.lower() == lowered and choice.kind == WORD
        for name, choice in site.function.options.items()
    )
