"""Variables of a configuration in files of NDL: in BrainScript they are members that stand before
the include, since files are included after variables are put in.
"""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.functions import WORD
from netsharp_lsp.cntk.ndl.syntax import Assignment, Option, Word, values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from netsharp_lsp.cntk.configuration.traced import Use
    from netsharp_lsp.cntk.migration.edits import Edit, Todo
    from netsharp_lsp.cntk.migration.names import CallSite
    from netsharp_lsp.cntk.migration.network import MigratedNetwork
    from netsharp_lsp.cntk.migration.texts import Text

RULE = "MG43"


def put_members(network: MigratedNetwork) -> Iterator[Edit | Todo]:
    """Edits that put members in place of the variables in a network's files."""
    for text in network.names.texts:
        if not text.in_file:
            continue
        words = {(word.start, word.end): word for word in _words(text)}
        spoken = _as_text(network)
        for use in _outermost(text):
            yield from _put(network, text, use, words, spoken)


def _put(
    network: MigratedNetwork,
    text: Text,
    use: Use,
    words: dict[tuple[int, int], Word],
    spoken: set[tuple[str, int]],
) -> Iterator[Edit | Todo]:
    word = words.get((use.at, use.end))
    if word is not None and not word.quoted:
        as_text = text.where(use.at, use.end)[:2] in spoken
        name = network.facts.member(use.name, as_text, text.key[0])
        statement = _repeats_itself(network, text, word, name)
        if statement is not None:
            yield text.edit(RULE, statement.start, statement.end, "")
            return
        yield text.edit(RULE, use.at, use.end, name)
        return
    around = next(
        (
            one
            for one in words.values()
            if one.start <= use.at and use.end <= one.end and one.quoted
        ),
        None,
    )
    if around is not None:
        yield from _in_quotes(network, text, use, around)
    elif any(use.at <= one.start and one.end <= use.end for one in words.values()):
        yield text.edit(RULE, use.at, use.end, network.facts.member(use.name, False, text.key[0]))
    elif use.end > use.at:
        message = f"The variable '{use.name}' is only a part of a word here. Write the word out."
        yield text.todo(RULE, (use.at, use.end), message, blocks=True)


def _in_quotes(network: MigratedNetwork, text: Text, use: Use, word: Word) -> Iterator[Edit]:
    """A variable in a quoted text, which is put together of parts then."""
    name = network.facts.member(use.name, True, text.key[0])
    data = text.data
    before = '" + ' if data[use.at - 1 : use.at] != b'"' else ""
    after = ' + "' if data[use.end : use.end + 1] != b'"' else ""
    start = use.at - (not before and word.quoted)
    end = use.end + (not after and word.quoted)
    yield text.edit(RULE, start, end, f"{before}{name}{after}")


def _repeats_itself(
    network: MigratedNetwork, text: Text, word: Word, name: str
) -> Assignment | None:
    """The statement that gives a variable its own name: the member says that already."""
    for one in text.script.statements:
        if isinstance(one, Assignment) and one.value is word and one.name is not None:
            symbol = network.names.top.symbols.get(name.lower())
            return one if symbol is not None and symbol.value is word else None
    return None


def _outermost(text: Text) -> list[Use]:
    """The variables of a text, without those that stand in the values of others."""
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
    """Where words stand that BrainScript takes as texts."""
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
