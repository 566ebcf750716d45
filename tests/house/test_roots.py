"""A caller that reads files named in files says where they may be: no call leaves the roots out."""

from __future__ import annotations

import ast

from tests.house.test_dependencies import MODULES
from tests.house.trees import nodes

#: Functions that read everywhere unless they get the roots, and its position from 1.
BOUND = {
    "DiskFiles": 3,
    "OverDisk": 2,
    "experiments": 4,
    "look_around": 9,
    "read_run_file": 2,
    "run_file_beside": 2,
    "run_file_context": 3,
    "specifications_below": 4,
    "tables_beside": 2,
    "training_files": 2,
    "training_folders": 2,
}
#: Calls that need none: the first is bound by `BoundFiles`, the second reads what a person names.
UNBOUND = {("netsharp_lsp.project.revision_files", "DiskFiles")}
UNBOUND.add(("netsharp_lsp.server.jobs.training", "read_run_file"))


def left_out(module: str) -> list[str]:
    """The calls of a module that leave the roots out."""
    found = []
    for node in nodes(MODULES[module]):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name not in BOUND or (module, name) in UNBOUND:
            continue
        reported = any(keyword.arg == "roots" for keyword in node.keywords)
        if not reported and len(node.args) < BOUND[name]:
            found.append(f"{module}: {name} in line {node.lineno}")
    return found


def test_readers_get_the_roots() -> None:
    readers = [one for one in MODULES if one.startswith("netsharp_lsp.")]
    found = [call for module in readers for call in left_out(module)]
    assert not found, "\n".join(found)
