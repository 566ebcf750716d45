"""The proposals for a place: one function for each kind of place, in one table.

Proposals are in the order of their usefulness. The text of the cursor's declaration is read; names
are taken from everywhere, and of very many the nearest.
"""

from __future__ import annotations

from netsharp_lsp.ide.answers import Completion, Completions
from netsharp_lsp.netsharp.ide.completion.attributes import attributes, values
from netsharp_lsp.netsharp.ide.completion.connections import (
    bodies,
    kinds,
    norms,
    opened,
    pools,
    sources,
)
from netsharp_lsp.netsharp.ide.completion.declarations import (
    ends,
    functions_of_layers,
    only_from,
    sections,
    sizes,
)
from netsharp_lsp.netsharp.ide.completion.expressions import (
    conditions,
    constant_values,
    parameters,
    size_entries,
    wheres,
)
from netsharp_lsp.netsharp.ide.completion.place import Cursor
from netsharp_lsp.netsharp.ide.completion.shares import shares, shares_opened
from netsharp_lsp.netsharp.ide.hover.layers import layer_markdown
from netsharp_lsp.netsharp.ide.hover.values import constant_markdown
from netsharp_lsp.netsharp.ide.meanings.glossary import (
    activation_markdown,
    attribute_markdown,
    form_named,
    function_markdown,
    keyword_markdown,
)
from netsharp_lsp.netsharp.ide.places.situation import situation_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from netsharp_lsp.netsharp.ide.completion.place import Proposal
    from netsharp_lsp.netsharp.meaning.network import Network

#: What to propose, by what is expected at the cursor.
EXPECTED: dict[str, Callable[[Cursor], Iterator[Proposal]]] = {
    "after activation": only_from,
    "after size": functions_of_layers,
    "attribute": attributes,
    "body": bodies,
    "condition": conditions,
    "constant": constant_values,
    "end": ends,
    "kind": kinds,
    "norm": norms,
    "open": opened,
    "open share": shares_opened,
    "parameter": parameters,
    "pool": pools,
    "section": sections,
    "share": shares,
    "size": sizes,
    "size entry": size_entries,
    "source": sources,
    "value": values,
    "where": wheres,
}


def completions_at(network: Network, offset: int) -> Completions:
    """Return the proposals for an offset; the word at the cursor is replaced."""
    situation = situation_at(network.specification, offset)
    if situation is None or situation.expected not in EXPECTED:
        return Completions()
    cursor = Cursor(network, situation, offset)
    found: dict[str, Completion] = {}
    for rank, proposal in enumerate(EXPECTED[situation.expected](cursor)):
        template = proposal.template
        found.setdefault(
            proposal.label,
            Completion(
                label=proposal.label,
                kind=proposal.kind,
                start=situation.start,
                end=situation.end,
                insert=template.snippet if template.has_holes else template.plain,
                plain=template.plain,
                snippet=template.has_holes,
                detail=proposal.detail,
                topic=proposal.topic,
                rank=rank,
            ),
        )
    return Completions(tuple(found.values()), cursor.leaves_out)


def documentation(network: Network, topic: str) -> str:
    """Return the documentation of a proposal, as Markdown; empty for an unknown topic."""
    about, _, name = topic.partition(":")
    reader = TOPICS.get(about)
    return reader(network, name) if reader is not None else ""


def _attribute(network: Network, name: str) -> str:
    name, _, kind = name.partition("@")
    form = form_named(name)
    return attribute_markdown(form, kind or None) if form is not None else ""


def _constant(network: Network, name: str) -> str:
    constant = network.constants.get(name)
    return constant_markdown(constant, network) if constant is not None else ""


def _layer(network: Network, name: str) -> str:
    layer = network.layers.get(name)
    return layer_markdown(layer, network) if layer is not None else ""


#: How a topic is documented, by the word before its colon.
TOPICS: dict[str, Callable[[Network, str], str]] = {
    "activation": lambda _, name: activation_markdown(name),
    "attribute": _attribute,
    "constant": _constant,
    "function": lambda _, name: function_markdown(name),
    "keyword": lambda _, name: keyword_markdown(name),
    "layer": _layer,
}
