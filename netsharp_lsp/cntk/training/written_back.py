"""The network of a model file written back as BrainScript, its numbers in files beside the text.

The text is returned only after it was evaluated and found to be the same network.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import netsharp_engine.cntk.matrices as matrix_files
from netsharp_engine.cntk.stored.values import V1
from netsharp_engine.exporting.refusal import ExportError
from netsharp_lsp.cntk.formatting import format_text
from netsharp_lsp.cntk.networks.node import PARAMETER, elements
from netsharp_lsp.cntk.training.stored_models import stored_model, stored_network
from netsharp_lsp.cntk.writing.calls import number_of, value_of
from netsharp_lsp.cntk.writing.network import Unwritten, network_text
from netsharp_lsp.cntk.writing.proof import objection
from netsharp_lsp.layout.options import FormatOptions
from netsharp_lsp.outcome import WrittenNetwork
from netsharp_lsp.text.matrices import Matrix, matrix_of
from netsharp_lsp.text.visible import visible

if TYPE_CHECKING:
    from netsharp_engine.cntk.generators import Array
    from netsharp_engine.cntk.stored.values import StoredModel
    from netsharp_lsp.cntk.networks.node import Network, Node

_NOT_IN_FILES = re.compile(r"[^A-Za-z0-9._-]+")
#: Letters of a file's name, of those that a node has.
_LONGEST = 100
#: Refused nodes that a sentence names.
_NAMED = 5
#: Nodes whose numbers are computed from the data before training, and have no start.
_WORKED_OUT = frozenset(("Mean", "InvStdDev"))


def network_text_of(path: str, folder: str) -> WrittenNetwork | None:
    """Return a model's network as BrainScript, with its numbers in files of a folder.

    ``folder`` is the path of that folder as the text names it. None where the file is not a model
    of CNTK's, ModelError where it is damaged, ExportError, with every node in question, where its
    network cannot be written.
    """
    stored = stored_model(path)
    if stored is None:
        return None
    if stored.format != V1:
        raise ExportError(
            "it is a model of CNTK's Python library (its second format), and BrainScript is "
            "written of models that CNTK's own program trained. Use --to onnx or --to torch."
        )
    network = stored_network(stored, path)
    numbers = _Numbers(folder)
    numbers.take(network, stored)
    try:
        text = network_text(network, numbers.starts)
    except Unwritten as error:
        raise ExportError(_refusal(error)) from None
    data = _formatted(_heading(path, stored) + text.text)
    differs = objection(data, network, text.renamed, numbers.measure)
    if differs is not None:
        raise ExportError(
            f"the text generated from it is not the same network, so nothing is written. {differs}",
            differs=True,
        )
    return WrittenNetwork(data, numbers.files, len(network.nodes), text.renamed, _notes(network))


def _refusal(error: Unwritten) -> str:
    sentences = [
        f"'{one.node}' is of type {one.operation}: {one.reason}" for one in error.refusals[:_NAMED]
    ]
    more = len(error.refusals) - len(sentences)
    return "; ".join((*sentences, *((f"and {more} more nodes",) if more else ()))) + "."


def _heading(path: str, stored: StoredModel) -> str:
    name = visible(re.split(r"[/\\]", path)[-1])
    return f"# The network of '{name}', a model of version {stored.version}.\n"


def _formatted(text: str) -> bytes:
    """Return the formatted text; unformatted where formatting would change its meaning."""
    return format_text(text.encode(), "brainscript", FormatOptions()).text


def _notes(network: Network) -> tuple[str, ...]:
    """Return notes on state that a text cannot keep."""
    counting = sum(node.operation == "BatchNormalization" for node in network.nodes.values())
    which = (
        "batch normalization counts its" if counting == 1 else "batch normalizations count their"
    )
    sentences = (f"{counting} {which} samples from 0 again when training begins.",) * bool(counting)
    return sentences + tuple(
        f"'{node.name}' is computed from the data again when training begins: BrainScript "
        "cannot set its numbers."
        for node in network.nodes.values()
        if node.operation in _WORKED_OUT
    )


class _Numbers:
    """The starts of parameters: one number, or the numbers of a file."""

    def __init__(self, folder: str) -> None:
        self.starts: dict[str, str] = {}
        #: The files by their names within the folder.
        self.files: dict[str, bytes] = {}
        self._sizes: dict[str, Matrix] = {}
        self._folder = folder
        self._names: dict[str, int] = {}

    def take(self, network: Network, stored: StoredModel) -> None:
        """Add every parameter of a model; ExportError where the file has no numbers of one."""
        values = stored.numbers()
        for node in network.nodes.values():
            if node.operation == PARAMETER:
                self.starts[node.name] = self._start(node, values.get(node.name))

    def measure(self, path: str) -> Matrix | None:
        """Return the size of the matrix in a file that the text names, None for other files."""
        return self._sizes.get(path)

    def _start(self, node: Node, values: Array | None) -> str:
        shape = node.shape or ()
        count = elements(shape)
        if values is None or not count or values.size != count:
            raise ExportError(
                f"'{node.name}' is of type {PARAMETER}: the file does not have its numbers."
            )
        flat = values.reshape(-1)
        if (flat == flat[0]).all() and abs(float(flat[0])) < float("inf"):
            return f"initValue={number_of(float(flat[0]))}"
        data = matrix_files.matrix_text(flat, shape[0])
        size = matrix_of((data,))
        again = matrix_files.matrix((data,), size.rows, size.columns).astype(flat.dtype)
        if not (again == flat)[flat == flat].all():
            raise ExportError(
                f"'{node.name}': its numbers cannot be written as text.", differs=True
            )
        name = self._name(node.name)
        path = f"{self._folder}/{name}"
        self.files[name], self._sizes[path] = data, size
        try:
            return f"initFromFilePath={value_of(path)}"
        except ValueError:
            raise ExportError(
                f"a text of BrainScript cannot name the folder {visible(self._folder)!r}. Name a "
                "file without quotes and control characters."
            ) from None

    def _name(self, node: str) -> str:
        """Return a name that no other file of the folder has, case-insensitively."""
        word = _NOT_IN_FILES.sub("_", node).strip("._")[:_LONGEST] or "parameter"
        count = self._names.get(word.lower(), 0) + 1
        self._names[word.lower()] = count
        return self._name(f"{word}_{count}") if count > 1 else f"{word}.txt"
