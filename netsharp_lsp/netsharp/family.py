"""Net# as a family: one language, whose texts are independent of each other and are trained."""

from __future__ import annotations

from netsharp_lsp.text_family import TextFamily

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from netsharp_engine.graph import Graph
    from netsharp_lsp.context import Context
    from netsharp_lsp.interface import Sample
    from netsharp_lsp.netsharp import NetSharp

_TEXT = "input A [2];\nhidden B [2] from A all;\noutput C [1] from B all;\n"


class Training:
    """The conversion of a specification to a graph, and of trained values to a specification."""

    def build_graph(self, specification: str, known: Mapping[str, Any]) -> Graph:
        """Return the engine's graph of a specification; see `netsharp_lsp.netsharp.lower`."""
        from netsharp_lsp.netsharp.lower import build_graph

        return build_graph(specification, known)

    def refusal(self, specification: bytes) -> str | None:
        """Return why a specification is not trained; see `netsharp_lsp.netsharp.lower`."""
        from netsharp_lsp.netsharp.lower import refusal

        return refusal(specification)

    def output(self, specification: bytes) -> tuple[int | None, str] | None:
        """Return the number of nodes and the activation of the output layer."""
        from netsharp_lsp.context import Context
        from netsharp_lsp.netsharp.meaning.steps.revision import resolve
        from netsharp_lsp.netsharp.reading.parser import parse

        layers = resolve(parse(specification), Context()).layers.values()
        outputs = [layer for layer in layers if layer.kind == "output"]
        if len(outputs) != 1 or outputs[0].activation is None:
            return None
        return outputs[0].nodes, outputs[0].activation

    def echo(self, specification: bytes, context: Context) -> list[str]:
        """Return the lines of a network as hosts print them; see `netsharp_lsp.netsharp.echo`."""
        from netsharp_lsp.netsharp.echo import echoed
        from netsharp_lsp.netsharp.meaning.steps.revision import resolve
        from netsharp_lsp.netsharp.reading.parser import parse

        return echoed(resolve(parse(specification), context))

    def with_values(
        self, specification: bytes, context: Context, values: Mapping[str, Sequence[str]]
    ) -> bytes:
        """Return a specification with initial values; see
        `netsharp_lsp.netsharp.initial_values`.
        """
        from netsharp_lsp.netsharp.initial_values import with_initial_values
        from netsharp_lsp.netsharp.meaning.steps.revision import resolve
        from netsharp_lsp.netsharp.reading.parser import parse

        return with_initial_values(resolve(parse(specification), context), values)


class NetSharpFamily(TextFamily):
    """Net#, alone in its family."""

    @property
    def sample(self) -> Sample:
        """Return a sample of three layers."""
        from netsharp_lsp.interface import Sample

        edited = _TEXT.replace("B", "D")
        return Sample(_TEXT, _TEXT.index("B"), _TEXT.index("A all"), edited)

    @property
    def training(self) -> Training:
        """Return the training interface."""
        return Training()

    def language(self, language_id: str) -> NetSharp:
        """Return Net#."""
        from netsharp_lsp.netsharp import LANGUAGE

        return LANGUAGE


FAMILY = NetSharpFamily("netsharp", "Net#", {".nn": "netsharp", ".netsharp": "netsharp"})
