"""Valid networks at random, which must be found so and counted right, and mutations of them."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from netsharp_engine.numpy_backend import compile_plan
from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.lower import lower
from tests.fuzz.checking import check_all
from tests.fuzz.generator import Program, valid

MUTATIONS_PER_PROGRAM = 8
#: One of this number of programs is compiled to a plan as well.
COMPILED = 10
TOKEN = re.compile(r"\w+|=>|==|[<>!]=|&&|\|\||//[^\n]*|\s+|.")


def trial(chance: random.Random) -> Iterator[bytes]:
    """A valid program, then some with a few tokens changed."""
    program = valid(chance)
    text = program.text.encode()
    yield text
    check_valid(program, text, chance)
    for _ in range(MUTATIONS_PER_PROGRAM):
        other = mutated(program.text, chance).encode()
        yield other
        check_all(other, Context())


def check_valid(program: Program, text: bytes, chance: random.Random) -> None:
    """No error; parameters as counted a second time; a graph of as many, that can be compiled."""
    network, diagnostics = check_all(text, Context())
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    assert errors == [], errors
    assert describe_network(network)["parameters"] == program.parameters
    graph = lower(network)
    assert sum(parameter.size for parameter in graph.parameters) == program.parameters
    assert sum(node.size for node in graph.inputs) == program.features
    if chance.randrange(COMPILED) == 0:
        compile_plan(graph, batch=2, training=False)


def mutated(text: str, chance: random.Random) -> str:
    """The text with one to three tokens deleted, doubled, swapped or replaced by others of it."""
    tokens = TOKEN.findall(text)
    for _ in range(chance.randint(1, 3)):
        place = chance.randrange(len(tokens))
        how = chance.randrange(4)
        if how == 0:
            tokens[place] = ""
        elif how == 1:
            tokens[place] *= 2
        elif how == 2:
            other = chance.randrange(len(tokens))
            tokens[place], tokens[other] = tokens[other], tokens[place]
        else:
            tokens[place] = chance.choice(tokens)
    return "".join(tokens)
