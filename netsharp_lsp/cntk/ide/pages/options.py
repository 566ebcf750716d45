"""Descriptions of keys, values and blocks of a configuration in Markdown, with the values in
force.
"""

from __future__ import annotations

from itertools import groupby

from netsharp_lsp.cntk.configuration.arrays import elements
from netsharp_lsp.cntk.configuration.options import BUILDERS
from netsharp_lsp.cntk.ide.meanings.glossary import comment_above, option_markdown
from netsharp_lsp.cntk.ide.meanings.words import option_word
from netsharp_lsp.cntk.ide.pages.node_pages import summary
from netsharp_lsp.cntk.ide.places.blocks import option_at, value_in_force
from netsharp_lsp.cntk.library.documentation import of
from netsharp_lsp.cntk.reading.syntax import Block, BuilderText

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.configuration.scope import Found
    from netsharp_lsp.cntk.ide.places.edited import Edited
    from netsharp_lsp.cntk.reading.syntax import Assignment

#: A value that is longer is cut off.
WIDTH = 120
_BUILDERS = frozenset(name.lower() for name in BUILDERS)


def key_markdown(edited: Edited, record: Assignment) -> str:
    """Return the description of a key: the option that it is, or a user-defined name, with the
    value in force.
    """
    name = record.name.text
    known = option_at(edited, record)
    found = value_in_force(edited, record)
    is_block = isinstance(record.value, Block | BuilderText)
    if known is None:
        if is_block:
            return block_markdown(edited, name) or f"**{name}**: a block"
        value = "" if found is None else f" = `{brief(found.text.text)}`"
        return f"**{name}**{value}"
    lines = [option_markdown(*known)]
    if name.lower() in _BUILDERS:
        lines += _built(edited, record)
    elif not is_block and found is not None:
        lines += _force(edited, record, found)
        lines += _epochs(found) if known[0].each and known[1].name == "SGD" else []
    return "\n\n".join(lines)


def value_markdown(edited: Edited, record: Assignment, word: str) -> str:
    """Return the description of a word in the value of an option; empty where it is clear by
    itself.
    """
    known = option_at(edited, record)
    name = record.name.text
    description = option_word(name, word)
    if description:
        return f"**{word}**: {description}"
    if known is None:
        return ""
    option = known[0]
    chosen = next((one for one in (*option.values, *option.old) if one.lower() == word.lower()), "")
    if not chosen or option.kind == "truth":
        return ""
    entry = of(chosen[:1].upper() + chosen[1:])
    does = f"\n\n{entry.text}" if entry is not None else ""
    return f"**{chosen}**: value of `{option.name}`. {option.description}{does}"


def block_markdown(edited: Edited, name: str) -> str:
    """Return the description of a block by name: what the command does, or that it is a section of
    a network.
    """
    lowered = name.lower()
    command = next((one for one in edited.main.commands if one.name.lower() == lowered), None)
    entry = edited.main.configuration.root.here(name.encode())
    if entry is None or entry.kind == "text":
        return ""
    if command is None or command.scope is None:
        return _section(edited, name)
    lines = [f"**{name}**: a command" + ("" if command.listed else " that is not run")]
    actions = command.actions or ("train",)
    lines += [f"`{action}`: {option_word('action', action)}" for action in actions]
    built = edited.main.network_of(name)
    if built is not None and summary(built):
        lines.append(f"Its network: {summary(built)}.")
    return "\n\n".join(lines)


def brief(data: bytes) -> str:
    """Return a value on one line, truncated where it is long."""
    words = " ".join(data.decode("utf-8", "replace").split())
    return words if len(words) <= WIDTH else f"{words[: WIDTH - 4]} ..."


def _section(edited: Edited, name: str) -> str:
    """Return the description of a section that a network of NDL is loaded from."""
    for built in edited.main.networks:
        for part in built.parts:
            if part.name.lower() == name.lower() and part.role in ("load", "run"):
                place = part.script.text.place(0, 0)
                key = edited.main.configuration.root.here(name.encode())
                start = key.parts[0].key.start if key is not None else place.start
                comment = comment_above(place.source.text, start)
                what = "the network" if part.role == "run" else "definitions"
                head = f"**{name}**: a section of NDL with {what} of `{built.command}`"
                shown = summary(built) if part.role == "run" else ""
                return "\n\n".join(filter(None, (head, comment, f"{shown}." if shown else "")))
    return ""


def _built(edited: Edited, record: Assignment) -> list[str]:
    """Return the size of the network that a builder creates."""
    for experiment, built in edited.networks():
        if built.found is None or not summary(built):
            continue
        place = built.found.entry.parts[0].key
        if place.start == record.name.start and edited.is_here(experiment, place.source.name):
            return [f"Builds {summary(built)}."]
    return []


def _force(edited: Edited, record: Assignment, found: Found) -> list[str]:
    """Return the value that CNTK reads for a key, where the text does not show it by itself."""
    lines = []
    value = found.text.text
    place = found.entry.parts[0].value
    here = edited.is_here(edited.main, place.source.name)
    own = here and record.start <= place.start and place.end <= record.end
    plain = place.text.strip(b'"') if own else b""
    if found.entry.kind != "block" and not (own and plain == value):
        lines.append(f"In force: `{brief(value)}`" + ("." if own else f", from {place}."))
    return lines


def _epochs(found: Found) -> list[str]:
    """Return the values of a list by epoch."""
    values = [one.text.decode("utf-8", "replace") for one in elements(found.text) or ()]
    return [f"By epoch: {_by_epoch(values)}."] if len(values) > 1 else []


def _by_epoch(values: list[str]) -> str:
    """Return a list of one value for each epoch in words: `0.1 for 5, then 0.01`."""
    runs = [(value, len(list(same))) for value, same in groupby(values)]
    words = [f"{value} for {count}" for value, count in runs[:-1]]
    return ", then ".join([*words, runs[-1][0]])
