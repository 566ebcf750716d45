"""The description of words that mean the same everywhere, and of codes in suppressions."""

from __future__ import annotations

import re

from netsharp_engine.activations import NAMES
from netsharp_lsp.netsharp.ide.hover.layers import fact
from netsharp_lsp.netsharp.ide.meanings.glossary import (
    FUNCTIONS,
    activation_markdown,
    function_markdown,
    keyword_markdown,
)
from netsharp_lsp.netsharp.ide.quickfixes import RULES
from netsharp_lsp.netsharp.meaning.values.evaluate import show

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.netsharp.ide.places.subjects import Subject
    from netsharp_lsp.netsharp.meaning.network import Network

SUPPRESSION = re.compile(rb"//\s*netsharp:\s*ignore\s*\[([^\]]*)\]?")
CODE = re.compile(rb"[A-Za-z]+\d+")


def keyword_at(subject: Subject, network: Network, offset: int) -> str:
    """Return the description of a keyword, with the two words of a kind taken together."""
    return keyword_markdown(subject.text)


def activation_at(subject: Subject, network: Network, offset: int) -> str:
    """Return the description of an activation."""
    name = subject.text.lower()
    return activation_markdown(name) if name in NAMES else ""


def function_at(subject: Subject, network: Network, offset: int) -> str:
    """Return the description of a function."""
    return function_markdown(subject.text) if subject.text in FUNCTIONS else ""


def parameter_at(subject: Subject, network: Network, offset: int) -> str:
    """Return the description of a condition's parameter: its layer, and the range per dimension."""
    predicate, bundle = subject.predicate, subject.bundle
    if predicate is None or bundle is None:
        return ""
    walks_source = subject.text == predicate.source.text
    layer = bundle.source if walks_source else bundle.layer
    role = "source" if walks_source else "destination"
    head = f"```netsharp\n{subject.text}\n```"
    if layer is None:
        return f"{head}\nThe index of a node in the {role} `{bundle.source_name}`."
    lines = [head, f"The index of a node in the {role} `{layer.name}`, counted from 0."]
    if layer.shape is not None:
        lines += ["", fact("Shape", f"`{show(layer.shape)}`")]
        lines += [
            fact(f"{subject.text}[{dimension}]", f"0 to {size - 1}")
            for dimension, size in enumerate(layer.shape)
        ]
    return "\n".join(lines)


def shared_bias_at(subject: Subject, network: Network, offset: int) -> str:
    """Return the description of the `1` of a shared bias."""
    return "```netsharp\n1 => Layer\n```\nThe biases of a layer.\n\n*Net# guide: Share declaration*"


def comment_at(subject: Subject, network: Network, offset: int) -> str:
    """Return the title of the rule whose code a suppression names."""
    text = network.specification.data[subject.start : subject.end]
    suppression = SUPPRESSION.match(text)
    if suppression is None:
        return ""
    for found in CODE.finditer(text, *suppression.span(1)):
        start, end = subject.start + found.start(), subject.start + found.end()
        code = found[0].decode()
        if start <= offset <= end and code in RULES.codes:
            subject.start, subject.end = start, end
            title = RULES.title(code)
            return f"**{code}** {title}\n\n`netsharp explain {code}` explains it."
    return ""
