"""Networks of NDL from short texts and small folders, for the tests beside this file."""

from __future__ import annotations

from netsharp_lsp.cntk.configuration.meaning.configuration import resolve
from netsharp_lsp.cntk.configuration.sources import Source
from netsharp_lsp.cntk.ndl.containers import program_of_file
from netsharp_lsp.cntk.ndl.program import evaluate_builder, evaluate_file
from netsharp_lsp.cntk.networks.faults import BuildingFault, Outcome
from netsharp_lsp.cntk.networks.node import Network, Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.ndl.syntax import NdlScript
    from netsharp_lsp.workspace import Count, Counted

SOURCE = "test.ndl"
#: What most short networks leave out, and the program asks for.
_NO_FEATURES = "no-features"


class Folder:
    """Files by their paths."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = {path: text.encode() for path, text in files.items()}

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        data = self.read(path)
        return None if data is None else count((data,))

    def exists(self, path: str) -> bool:
        return path in self.files

    def kind(self, path: str) -> str | None:
        return "file" if self.exists(path) else None

    def locate(self, path: str) -> str:
        return path

    def outside(self, path: str) -> bool:
        return False


def script(text: str) -> NdlScript:
    """The one script of a file."""
    (part,) = program_of_file(Source(SOURCE, text.encode())).parts
    return part.script


def outcome(text: str) -> Outcome:
    """The result of a file alone; nothing is said of features."""
    found = evaluate_file(Source(SOURCE, text.encode()))
    return found._replace(faults=tuple(it for it in found.faults if it.kind != _NO_FEATURES))


def network(text: str) -> Network:
    """A network in which everything is right."""
    found = outcome(text)
    assert [(it.kind, marked(it, text)) for it in found.faults] == []
    assert found.network is not None
    assert [(it.node.name, it.message) for it in found.network.troubles] == []
    return found.network


def node(text: str, name: str = "x") -> Node:
    """A node of a network in which everything is right."""
    return network(text).nodes[name]


def marked(fault: BuildingFault, text: str) -> str:
    """The text that a fault marks."""
    assert fault.place.source == SOURCE
    return text.encode()[fault.place.start : fault.place.end].decode()


def faults(text: str) -> list[tuple[str, str]]:
    """The kinds of faults in a text with what they mark."""
    return [(it.kind, marked(it, text)) for it in outcome(text).faults]


def run(files: dict[str, str], *items: str) -> Outcome:
    """The network of the command `train` of the configuration `a.cntk` among files."""
    folder = Folder(files)
    configuration = resolve(("a.cntk", *items), folder)
    scope = configuration.root.block(b"train")
    assert scope is not None
    found = scope.look_up(b"NDLNetworkBuilder")
    assert found is not None
    return evaluate_builder(found, scope, folder)


def built(files: dict[str, str], *items: str) -> Network:
    """The same, where everything is right."""
    found = run(files, *items)
    assert [(it.kind, it.message) for it in found.faults if it.kind != _NO_FEATURES] == []
    assert found.network is not None
    return found.network
