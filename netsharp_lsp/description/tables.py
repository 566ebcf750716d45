"""A described network as tables: for a terminal, and in Markdown."""

from __future__ import annotations

from netsharp_lsp.description.costs import FIGURES as COST_FIGURES
from netsharp_lsp.description.costs import HEAD as COST_HEAD
from netsharp_lsp.description.costs import cost_lines, cost_rows
from netsharp_lsp.description.models import model_lines
from netsharp_lsp.description.node_tables import FIGURES, HEAD, loop_lines, node_rows
from netsharp_lsp.text.shorten import shortened
from netsharp_lsp.text.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Description = dict[str, Any]
    Row = tuple[str, ...]
    Table = tuple[Row, list[Row], tuple[int, ...]]

LAYER_HEAD = ("layer", "kind", "shape", "nodes", "activation", "biases", "parameters")
BUNDLE_HEAD = (
    "bundle",
    "kind",
    "output",
    "kernels",
    "weights per kernel",
    "parameters",
    "connections",
    "multiply-adds",
)
#: The columns of figures, set to the right.
LAYER_FIGURES = (3, 5, 6)
BUNDLE_FIGURES = (3, 4, 5, 6, 7)
UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


def render_text(description: Description) -> str:
    """Return aligned tables, of layers and bundles or of nodes and loops, and the totals."""
    parts = ["\n".join(map(visible, _above(description)))] if "model" in description else []
    if _is_checkpoint(description):
        return f"{parts[0]}\n"
    parts += [_aligned(*table) for table in _tables(description)]
    parts.append("\n".join(map(visible, totals(description))))
    return "\n\n".join(parts) + "\n"


def render_markdown(description: Description) -> str:
    """Return the same tables in Markdown."""
    parts = ["\n".join(f"- {visible(line.strip())}" for line in _above(description))]
    parts = parts if "model" in description else []
    if _is_checkpoint(description):
        return f"{parts[0]}\n"
    parts += [_markdown(*table) for table in _tables(description)]
    parts.append("\n".join(f"- {visible(line)}" for line in totals(description)))
    return "\n\n".join(parts) + "\n"


def _is_checkpoint(description: Description) -> bool:
    return "checkpoint" in description.get("model", ())


def _above(description: Description) -> list[str]:
    """Return the lines above the tables of a model file."""
    return model_lines(description["model"]) if "model" in description else []


def _tables(description: Description) -> list[Table]:
    """Return each table as its head, its rows, and the columns of figures."""
    if "nodes" in description:
        return [(HEAD, _visible(node_rows(description)), FIGURES)]
    layers: Table = (LAYER_HEAD, _visible(layer_rows(description)), LAYER_FIGURES)
    bundles = _visible(bundle_rows(description))
    found = [layers, (BUNDLE_HEAD, bundles, BUNDLE_FIGURES)] if bundles else [layers]
    if "cost" in description:
        found.append((COST_HEAD, _visible(cost_rows(description["cost"])), COST_FIGURES))
    return found


def _visible(rows: list[Row]) -> list[Row]:
    """Return rows whose cells are escaped and shortened, so that a terminal can show them."""
    return [tuple(visible(shortened(cell)) for cell in row) for row in rows]


def layer_rows(description: Description) -> list[Row]:
    """Return a row for each layer; empty cells do not apply, question marks are unknown."""
    return [
        (
            layer["name"],
            layer["kind"],
            "auto" if layer["shape"] is None else str(layer["shape"]),
            figure(layer["nodes"]),
            _activation(layer),
            "" if layer["kind"] == "input" else figure(layer["biases"]),
            "" if layer["kind"] == "input" else _shared(layer, figure(layer["parameters"])),
        )
        for layer in description["layers"]
    ]


def bundle_rows(description: Description) -> list[Row]:
    """Return a row for each bundle."""
    return [
        (
            f"{bundle['source']} => {layer['name']}",
            bundle["kind"] or "?",
            "" if bundle["output"] is None else str(bundle["output"]),
            "" if bundle["kernels"] is None else figure(bundle["kernels"]),
            "" if bundle["weights_per_kernel"] is None else figure(bundle["weights_per_kernel"]),
            _shared(bundle, figure(bundle["parameters"])),
            figure(bundle["connections"]),
            figure(bundle["multiply_adds"]),
        )
        for layer in description["layers"]
        for bundle in layer["bundles"]
    ]


def totals(description: Description) -> list[str]:
    """Return the sums of a network as short lines."""
    memory = description["memory_bytes"]
    if "nodes" in description:
        return [
            f"{len(description['nodes']):,} nodes",
            f"{figure(description['parameters'])} parameters",
            f"{figure(description['multiply_adds'])} multiply-adds a sample and time step",
            f"{'?' if memory is None else size(memory)} for parameters and one sample",
            *loop_lines(description),
        ]
    lines = [
        f"{figure(description['parameters'])} parameters",
        f"{figure(description['connections'])} connections",
        f"{figure(description['multiply_adds'])} multiply-adds a sample",
        f"{'?' if memory is None else size(memory)} for parameters and one sample in float32",
    ]
    if any(
        part["shared_with"] is not None
        for layer in description["layers"]
        for part in (layer, *layer["bundles"])
    ):
        lines.append("* shared with an earlier layer, counted once in the total")
    return [*lines, *cost_lines(description["cost"])] if "cost" in description else lines


def figure(count: int | None) -> str:
    """Return a count with separators; a question mark where it is unknown."""
    return "?" if count is None else f"{count:,}"


def size(count: int) -> str:
    """Return a number of bytes in the unit that people read."""
    amount = float(count)
    for unit in UNITS[:-1]:
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} {UNITS[-1]}"


def _activation(layer: Description) -> str:
    if layer["kind"] == "input":
        return ""
    return str(layer["activation"] or "?")


def _shared(part: Description, text: str) -> str:
    return text if part["shared_with"] is None else f"{text} *"


def _aligned(head: Row, rows: list[Row], figures: tuple[int, ...]) -> str:
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    lines = []
    for row in [head, *rows]:
        cells = [
            cell.rjust(width) if i in figures else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def _markdown(head: Row, rows: list[Row], figures: tuple[int, ...]) -> str:
    rule = ["--:" if i in figures else "---" for i in range(len(head))]
    escaped = [[cell.replace("|", "\\|").replace("*", "\\*") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in [list(head), rule, *escaped])
