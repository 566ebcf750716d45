"""Migration of experiments from NDL to BrainScript: the units, each of which is migrated as a
whole.
"""

from __future__ import annotations

from netsharp_lsp.cntk.migration.editing.cases import builders
from netsharp_lsp.cntk.migration.unit import MigrationSettings, Plan, Unit

__all__ = ["MigrationSettings", "Plan", "Unit", "units"]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_lsp.cntk.migration.editing.cases import Builder
    from netsharp_lsp.cntk.run.experiment import Experiment
    from netsharp_lsp.workspace import Files


def units(
    experiments: Sequence[Experiment], files: Files, settings: MigrationSettings | None = None
) -> list[Unit]:
    """Return the units of some experiments that have a builder of NDL, in order."""
    found = [(one, list(builders(one, files))) for one in experiments]
    with_ndl = [(one, listed) for one, listed in found if listed]
    groups: list[tuple[set[str], list[tuple[Experiment, list[Builder]]]]] = []
    for one, listed in with_ndl:
        used = _files(one, listed)
        joined = [group for group in groups if not used.isdisjoint(group[0])]
        for group in joined:
            groups.remove(group)
        names = used.union(*(group[0] for group in joined))
        members = [member for group in joined for member in group[1]]
        groups.append((names, [*members, (one, listed)]))
    return [
        Unit(
            [one for one, _ in members],
            [builder for _, listed in members for builder in listed],
            files,
            settings or MigrationSettings(),
        )
        for _, members in groups
    ]


def _files(experiment: Experiment, listed: Sequence[Builder]) -> set[str]:
    """Return the files of an experiment, and those that its builders name."""
    locate = experiment.files.locate
    names = {locate(source.name) for source in experiment.configuration.layers.sources}
    for builder in listed:
        for key in (b"networkDescription", b"ndlMacros"):
            found = builder.file(key)
            if found is not None:
                text = found.text.text.decode("utf-8", "replace")
                names |= {locate(path) for path in text.split("+")}
    return names
