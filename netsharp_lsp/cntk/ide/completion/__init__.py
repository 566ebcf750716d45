"""Completion at a place, by the language of the part that contains it."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.options import block
from netsharp_lsp.cntk.ide.completion import arguments, brainscript, configuration, files, networks
from netsharp_lsp.cntk.ide.completion.place import writing_at
from netsharp_lsp.cntk.ide.meanings.descriptions import of_edit, of_library, of_ndl
from netsharp_lsp.cntk.ide.meanings.glossary import option_markdown
from netsharp_lsp.cntk.ide.meanings.words import parameter_meaning
from netsharp_lsp.cntk.ide.places.near import near
from netsharp_lsp.ide.answers import Completions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ide.places.edited import Edited


def completions_at(edited: Edited, offset: int) -> Completions:
    """Return the completions at an offset; none in comments."""
    around = near(edited, offset)
    if around is None:
        return in_whole(edited, offset)
    return in_whole(around.edited, offset - around.moved, around.moved)


def in_whole(edited: Edited, offset: int, moved: int = 0) -> Completions:
    """Return the same for a text that is parsed as a whole and begins `moved` bytes into
    another.
    """
    if edited.text.comment_before(offset) is not None:
        return Completions()
    writing = writing_at(edited, offset, moved)
    variables = configuration.variables(edited, writing)
    if variables is not None:
        return Completions(tuple(variables))
    paths = files.proposals(edited, writing)
    if paths is not None:
        return Completions(tuple(paths))
    if edited.language != "cntk" or _is_network(edited, offset):
        words = arguments.values(edited, writing)
        if words is not None:
            return Completions(tuple(words))
    if edited.text.island_at(offset) is not None:
        return Completions(tuple(brainscript.proposals(edited, writing)))
    if edited.language == "cntk" and not networks.is_network(edited, offset):
        return Completions(tuple(configuration.proposals(edited, writing)))
    return Completions(tuple(networks.proposals(edited, writing)))


def _is_network(edited: Edited, offset: int) -> bool:
    return edited.text.island_at(offset) is not None or networks.is_network(edited, offset)


def documentation(edited: Edited, topic: str) -> str:
    """Return the documentation of a proposal: `kind:name`, for an option `option:table:name`.

    Empty for an unknown topic.
    """
    kind, _, rest = topic.partition(":")
    if kind == "option":
        table_name, _, name = rest.partition(":")
        table = block(table_name)
        option = table.find(name) if table is not None else None
        return "" if option is None or table is None else option_markdown(option, table)
    tables = {
        "library": of_library,
        "ndl": of_ndl,
        "mel": of_edit,
        "argument": parameter_meaning,
    }
    reader = tables.get(kind)
    return "" if reader is None else reader(rest)
