"""Lists the numbers of a description that are unknown because counting them takes too long."""

from __future__ import annotations

from netsharp_lsp.limits import CONDITION_EVALUATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def uncounted(description: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for each filtered bundle whose sizes are known and whose edges are not."""
    known = {layer["name"] for layer in description["layers"] if layer["nodes"] is not None}
    for layer in description["layers"]:
        for bundle in layer["bundles"]:
            if (
                bundle["kind"] == "where"
                and bundle["connections"] is None
                and {layer["name"], bundle["source"]} <= known
            ):
                yield (
                    f"the edges from '{bundle['source']}' to '{layer['name']}' are not counted: "
                    f"the conditions of a network take at most {CONDITION_EVALUATIONS}."
                )
