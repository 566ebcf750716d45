"""Experiments in memory and on disk that the tests beside this file migrate."""

from __future__ import annotations

from pathlib import Path

from netsharp_lsp.cntk.migration.migrate import MigrationSettings, Plan, Unit, units
from netsharp_lsp.cntk.run.experiment import Experiment
from netsharp_lsp.workspace import Run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netsharp_lsp.workspace import Count, Counted

#: A configuration around a file of NDL.
AROUND = """command = Train
Train = [
    action = train
    NDLNetworkBuilder = [
        networkDescription = "network.ndl"
    ]
]
"""


class Texts:
    """Files by their names; nothing else is there."""

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        self.texts = texts

    def read(self, path: str) -> bytes | None:
        return self.texts.get(self.locate(path))

    def counted(self, path: str, count: Count[Counted]) -> Counted | None:
        data = self.read(path)
        return None if data is None else count((data,))

    def exists(self, path: str) -> bool:
        return self.locate(path) in self.texts

    def kind(self, path: str) -> str | None:
        return "file" if self.exists(path) else None

    def locate(self, path: str) -> str:
        return path.removeprefix("./")

    def outside(self, path: str) -> bool:
        return False


def units_of(
    texts: Mapping[str, bytes],
    settings: MigrationSettings | None = None,
    runs: Sequence[tuple[str, ...]] | None = None,
) -> list[Unit]:
    """The units of some texts; every configuration is a run if none is given."""
    files = Texts(texts)
    if runs is None:
        runs = [(f"configFile={name}",) for name in texts if name.endswith(".cntk")]
    experiments = [Experiment(Run(items), files) for items in runs]
    return units(experiments, files, settings)


def plan_of(texts: Mapping[str, str], settings: MigrationSettings | None = None) -> Plan:
    """The plan of the one unit that there is."""
    (unit,) = units_of({name: text.encode() for name, text in texts.items()}, settings)
    return unit.migrated()


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by its path in it."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
