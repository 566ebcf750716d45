"""Net# as a family: one language, whose texts stand each for itself and are trained."""

from __future__ import annotations

from netsharp_lsp.interface import Sample
from netsharp_lsp.limits import SPECIFICATION_BYTES
from netsharp_lsp.netsharp import LANGUAGE
from netsharp_lsp.text.decode import decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from netsharp_engine.graph import Graph
    from netsharp_lsp.context import Context
    from netsharp_lsp.netsharp import NetSharp
    from netsharp_lsp.text.decode import DecodeError, Source

_TEXT = "input A [2];\nhidden B [2] from A all;\noutput C [1] from B all;\n"


class Training:
    """How a specification becomes a graph, and trained values a specification."""

    def build_graph(self, specification: str, known: Mapping[str, Any]) -> Graph:
        """The engine's graph of a specification; see `netsharp_lsp.netsharp.lower`."""
        from netsharp_lsp.netsharp.lower import build_graph

        return build_graph(specification, known)

    def with_values(
        self, specification: bytes, context: Context, values: Mapping[str, Sequence[str]]
    ) -> bytes:
        """The specification with initial values; see `netsharp_lsp.netsharp.initial_values`."""
        from netsharp_lsp.netsharp.initial_values import with_initial_values
        from netsharp_lsp.netsharp.meaning.network import Network
        from netsharp_lsp.netsharp.reading.parser import parse

        return with_initial_values(Network(parse(specification), context), values)


class NetSharpFamily:
    """Net#, alone in its family."""

    id = "netsharp"
    title = "Net#"
    suffixes: Mapping[str, str] = {".nn": "netsharp", ".netsharp": "netsharp"}
    languages: Mapping[str, NetSharp] = {"netsharp": LANGUAGE}
    looks_inside = False
    largest = SPECIFICATION_BYTES
    sample = Sample(_TEXT, _TEXT.index("B"), _TEXT.index("A all"), _TEXT.replace("B", "D"))
    training = Training()
    experiments = None
    configurations = None
    migrations = None

    def recognise(self, name: str, data: bytes) -> str:
        """Net# by its name alone."""
        return LANGUAGE.id

    def decode(self, data: bytes) -> Source | DecodeError:
        """UTF-8, or UTF-16 with a mark."""
        return decode(data)


FAMILY = NetSharpFamily()
