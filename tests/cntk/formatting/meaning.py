"""What a text of CNTK's languages means, in a form that two texts can be compared in.

Every variable that the text does not define itself stays symbolic; files that it names are read
where they lie.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from netsharp_engine.plain_files import kind_at
from netsharp_lsp.cntk.checking.analysis import Over, analysed
from netsharp_lsp.cntk.configuration.meaning.configuration import resolve
from netsharp_lsp.cntk.configuration.meaning.tree import Value
from netsharp_lsp.cntk.networks.description import node_json
from netsharp_lsp.cntk.run.building import BuiltNetwork
from netsharp_lsp.cntk.run.experiment import Experiment, SingleFile
from netsharp_lsp.cntk.run.neighbours import alone
from tests.cntk.texts import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.workspace import Count, Counted

#: Blanks that a call of NDL does not keep.
_AROUND = re.compile(r"\s*([(){}\[\],;=:])\s*|\s+")


class Disk:
    """Files of one folder, and nothing else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, path: str) -> bytes | None:
        place = self.folder / path
        return place.read_bytes() if place.is_file() else None

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        data = self.read(path)
        return None if data is None else count((data,))

    def exists(self, path: str) -> bool:
        return (self.folder / path).exists()

    def kind(self, path: str) -> str | None:
        return kind_at(self.folder / path)

    def locate(self, path: str) -> str:
        return str((self.folder / path).resolve())

    def outside(self, path: str) -> bool:
        return False


def tree(data: bytes) -> list[tuple[object, ...]]:
    """Every key of a configuration with its kind, value and variables.

    The text in blocks has keys of its own; calls and values of several lines may be spaced
    otherwise, all else may not.
    """
    values = resolve(["a"], Memory({"a": data})).values()
    return [(one.path, one.kind, *_messages(one)) for one in values]


def _messages(value: Value) -> tuple[object, ...]:
    variables = tuple(use.name for use in value.variables)
    if value.kind == "block":
        return (value.raw[:1], variables)
    raw = value.raw
    if value.kind == "flag" or "\n" in raw or re.match(r"[\w.]+\s*\(", raw):
        return (_AROUND.sub(r"\1 ", raw).split(), variables)
    return (raw, value.value, value.elements, variables)


def experiment(path: Path, language: str, data: bytes) -> Experiment:
    """The run of one file that is assumed where none is declared."""
    disk = Disk(path.parent)
    files = Over(disk, {disk.locate(path.name): data})
    if language == "cntk":
        return Experiment(alone(path.name), files)
    return SingleFile(path.name, language, files)


def outcome(path: Path, language: str, data: bytes) -> tuple[list[object], Counter[str]]:
    """The networks of a file, every node with all that is known of it but its place; and how
    often each code is found.
    """
    one = experiment(path, language, data)
    networks = [_network(built) for built in one.networks]
    found = analysed(one).diagnostics.values()
    return networks, Counter(each.code for diagnostics in found for each in diagnostics)


def _network(built: BuiltNetwork) -> object:
    faults = Counter(fault.kind for fault in built.faults)
    if built.network is None:
        return built.command, faults
    nodes = [node_json(node, built.network) for node in built.network.nodes.values()]
    for node in nodes:
        del node["file"], node["start"], node["end"]
    groups = {name: [node.name for node in group] for name, group in built.network.groups.items()}
    loops = [[node.name for node in loop] for loop in built.network.loops]
    return built.command, faults, nodes, groups, loops
