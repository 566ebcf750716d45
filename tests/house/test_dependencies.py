"""Imports go one way through the house, and outside packages stay in the rooms named here."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from tests.house.trees import nodes, tree

ROOT = Path(__file__).resolve().parents[2]

#: From the ground up: a room may import the rooms before it, and itself.
FLOORS = (
    (
        "netsharp_engine._twins",
        "netsharp_engine.cells",
        "netsharp_engine.excerpt",
        "netsharp_engine.geometry",
        "netsharp_engine.plain_files",
    ),
    ("netsharp_engine.stored",),
    (
        "netsharp_engine.activations",
        "netsharp_engine.exchange",
        "netsharp_engine.host_arguments",
        "netsharp_engine.limits",
    ),
    ("netsharp_engine.atomic_files", "netsharp_engine.devices", "netsharp_engine.distributed.comm"),
    ("netsharp_engine.nodes",),
    ("netsharp_engine.dropping", "netsharp_engine.ops"),
    ("netsharp_engine.graph", "netsharp_engine.memory"),
    ("netsharp_engine.analysis", "netsharp_engine.packing", "netsharp_engine.program"),
    ("netsharp_engine.distributed", "netsharp_engine.phases", "netsharp_engine.planned"),
    ("netsharp_engine.initial", "netsharp_engine.room", "netsharp_engine.walks"),
    ("netsharp_engine.data.errors",),
    ("netsharp_engine.data.storage",),
    ("netsharp_engine.tensor_backend.kernels",),
    (
        "netsharp_engine.numpy_backend",
        "netsharp_engine.tensor_backend",
        "netsharp_engine.wgpu_backend",
    ),
    ("netsharp_engine.torch_backend.kernels",),
    ("netsharp_engine.torch_backend",),
    ("netsharp_engine.backends",),
    ("netsharp_engine.model_file",),
    (
        "netsharp_engine.data.frames",
        "netsharp_engine.data.labels",
        "netsharp_engine.data.texts",
    ),
    ("netsharp_engine.data.table",),
    ("netsharp_engine.data.reading",),
    ("netsharp_engine.data",),
    ("netsharp_engine.train.failures", "netsharp_engine.train.settings"),
    ("netsharp_engine.train.tasks",),
    ("netsharp_engine.train.preparation", "netsharp_engine.train.report"),
    ("netsharp_engine.train.loading",),
    ("netsharp_engine.train.state", "netsharp_engine.train.steps"),
    ("netsharp_engine.train.feeding", "netsharp_engine.train.objective"),
    ("netsharp_engine.train.measure", "netsharp_engine.train.metrics"),
    ("netsharp_engine.train.diagnosis", "netsharp_engine.train.rates"),
    ("netsharp_engine.train.drafting",),
    ("netsharp_engine.train.examining",),
    ("netsharp_engine.train.loop",),
    ("netsharp_engine.costs",),
    ("netsharp_engine.model",),
    ("netsharp_engine.exporting",),
    ("netsharp_engine",),
    ("netsharp_compile",),
    ("netsharp_engine.cntk.generators", "netsharp_engine.cntk.computing"),
    ("netsharp_engine.cntk.stored", "netsharp_engine.cntk.samples"),
    ("netsharp_engine.cntk.descent", "netsharp_engine.cntk.images"),
    ("netsharp_engine.cntk",),
    (
        "netsharp_lsp.generics",
        "netsharp_lsp.cancellation",
        "netsharp_lsp.limits",
        "netsharp_lsp.once",
    ),
    ("netsharp_lsp.family_settings",),
    ("netsharp_lsp.memory",),
    ("netsharp_lsp.text", "netsharp_lsp.layout", "netsharp_lsp.globs", "netsharp_lsp.workspace"),
    ("netsharp_lsp.context",),
    ("netsharp_lsp.diagnostics",),
    (
        "netsharp_lsp.embedded.hosts",
        "netsharp_lsp.embedded.layers",
        "netsharp_lsp.embedded.passage",
        "netsharp_lsp.embedded.regions",
    ),
    ("netsharp_lsp.embedded.code",),
    ("netsharp_lsp.embedded.python",),
    ("netsharp_lsp.embedded.r",),
    ("netsharp_lsp.embedded.prose", "netsharp_lsp.embedded.sql"),
    ("netsharp_lsp.embedded.finding",),
    ("netsharp_lsp.ide", "netsharp_lsp.embedded"),
    ("netsharp_lsp.importing",),
    ("netsharp_lsp.description",),
    ("netsharp_lsp.interface", "netsharp_lsp.examining"),
    ("netsharp_lsp.netsharp.reading",),
    ("netsharp_lsp.netsharp.findings",),
    ("netsharp_lsp.netsharp.meaning.values",),
    ("netsharp_lsp.netsharp.meaning.conditions",),
    ("netsharp_lsp.netsharp.meaning.model",),
    ("netsharp_lsp.netsharp.meaning.counts",),
    ("netsharp_lsp.netsharp.meaning",),
    ("netsharp_lsp.netsharp.meaning.steps",),
    ("netsharp_lsp.netsharp.repairs", "netsharp_lsp.netsharp.arithmetic"),
    ("netsharp_lsp.netsharp.ide.meanings", "netsharp_lsp.netsharp.ide.places"),
    ("netsharp_lsp.netsharp.ide.navigation",),
    ("netsharp_lsp.netsharp.ide.structure",),
    ("netsharp_lsp.netsharp",),
    (
        "netsharp_lsp.cntk.model_files",
        "netsharp_lsp.cntk.suffixes",
        "netsharp_lsp.cntk.versions",
        "netsharp_lsp.cntk.vocabulary",
    ),
    ("netsharp_lsp.cntk.reading", "netsharp_lsp.cntk.configuration"),
    ("netsharp_lsp.cntk.configuration.meaning",),
    ("netsharp_lsp.cntk.networks",),
    ("netsharp_lsp.cntk.brainscript.reading",),
    ("netsharp_lsp.cntk.brainscript.evaluation", "netsharp_lsp.cntk.brainscript.analysis"),
    ("netsharp_lsp.cntk.library", "netsharp_lsp.cntk.ndl", "netsharp_lsp.cntk.simple"),
    ("netsharp_lsp.cntk.mel", "netsharp_lsp.cntk.formatting", "netsharp_lsp.cntk.writing"),
    ("netsharp_lsp.cntk.run.scripts",),
    ("netsharp_lsp.cntk.run",),
    ("netsharp_lsp.cntk.rules", "netsharp_lsp.cntk.description"),
    ("netsharp_lsp.cntk.checking",),
    ("netsharp_lsp.cntk.migration.editing",),
    ("netsharp_lsp.cntk.migration.networks",),
    ("netsharp_lsp.cntk.migration.composing", "netsharp_lsp.cntk.migration.rules"),
    ("netsharp_lsp.cntk.migration",),
    ("netsharp_lsp.cntk.ide.meanings", "netsharp_lsp.cntk.ide.naming"),
    ("netsharp_lsp.cntk.ide.places",),
    ("netsharp_lsp.cntk.ide.pages",),
    (
        "netsharp_lsp.cntk.ide.changes",
        "netsharp_lsp.cntk.ide.navigation",
        "netsharp_lsp.cntk.ide.structure",
    ),
    ("netsharp_lsp.cntk.ide",),
    ("netsharp_lsp.cntk",),
    ("netsharp_lsp.settings",),
    ("netsharp_lsp.project.git",),
    ("netsharp_lsp.project",),
    (
        "netsharp_lsp.family",
        "netsharp_lsp.outcome",
        "netsharp_lsp.questions",
        "netsharp_lsp.text_family",
    ),
    (
        "netsharp_lsp.cntk.training.refusals",
        "netsharp_lsp.cntk.training.options",
        "netsharp_lsp.cntk.training.reporting",
    ),
    ("netsharp_lsp.cntk.training.networks", "netsharp_lsp.cntk.training.samples"),
    ("netsharp_lsp.cntk.training.plans",),
    ("netsharp_lsp.cntk.training.splits",),
    ("netsharp_lsp.cntk.training.work",),
    ("netsharp_lsp.cntk.training.actions",),
    ("netsharp_lsp.cntk.training",),
    ("netsharp_lsp.cntk.commands", "netsharp_lsp.cntk.family", "netsharp_lsp.netsharp.family"),
    ("netsharp_lsp.language",),
    ("netsharp_lsp.specification", "netsharp_lsp.notebooks.watching"),
    ("netsharp_lsp.notebooks", "netsharp_lsp.trained"),
    ("netsharp_lsp.microsoftml",),
    ("netsharp_lsp.server.transport", "netsharp_lsp.server.documents"),
    ("netsharp_lsp.server.client",),
    ("netsharp_lsp.server.jobs",),
    ("netsharp_lsp.server.surroundings",),
    ("netsharp_lsp.server.pictures",),
    ("netsharp_lsp.server.session",),
    ("netsharp_lsp.server.answers",),
    ("netsharp_lsp.server.commands",),
    ("netsharp_lsp.server.offers",),
    ("netsharp_lsp.server.handlers.navigation", "netsharp_lsp.server.handlers.workspace"),
    ("netsharp_lsp.server.handlers",),
    ("netsharp_lsp.server.turns",),
    ("netsharp_lsp.server",),
    ("netsharp_lsp.cli.console", "netsharp_lsp.cli.outputs"),
    ("netsharp_lsp.cli.inputs",),
    ("netsharp_lsp.cli.arguments",),
    ("netsharp_lsp.cli.machines",),
    ("netsharp_lsp.cli.specifications",),
    ("netsharp_lsp.cli", "netsharp_lsp.__main__", "netsharp_lsp.estimators"),
    ("netsharp_lsp.start",),
    ("netsharp",),
)

#: Outside packages and the only modules that may name them.
OUTSIDE = {
    "tree_sitter": ("netsharp_lsp.netsharp.", "netsharp_lsp.cntk."),
    "netsharp_grammar": ("netsharp_lsp.netsharp.", "netsharp_lsp.cntk."),
    "numpy": (
        *("netsharp_compile.", "netsharp_engine.", "netsharp_lsp.cli.", "netsharp_lsp.estimators."),
        *("netsharp_lsp.microsoftml.", "netsharp."),
    ),
    "safetensors": ("netsharp_engine.model_file", "netsharp_engine.exporting.torch.written"),
    "onnx": ("netsharp_engine.exporting.onnx.", "netsharp_compile.exporting."),
    "onnxruntime": ("netsharp_engine.exporting.onnx.checking",),
    "wgpu": ("netsharp_engine.wgpu_backend.running",),
    "torch": (
        "netsharp_engine.distributed.agent",
        "netsharp_engine.distributed.group",
        "netsharp_engine.exporting.torch.comparing",
        "netsharp_engine.torch_backend.",
    ),
    "duckdb": ("netsharp_engine.exporting.tsql.comparing",),
    "sqlglot": ("netsharp_engine.exporting.tsql.comparing",),
    "PIL": ("netsharp_engine.cntk.images.decoding",),
    "platformdirs": ("netsharp_engine.data.storage.places",),
    "pyarrow": ("netsharp_engine.data.", "netsharp_lsp.cli."),
    "rich": ("netsharp_lsp.cli.",),
    "matplotlib": ("netsharp_lsp.cli.",),
    "sklearn": ("netsharp_lsp.estimators.",),
    "IPython": ("netsharp_lsp.notebooks.", "netsharp._notebook"),
    "pygls": ("netsharp_lsp.server.",),
    "lsprotocol": ("netsharp_lsp.server.",),
    "parso": ("netsharp_lsp.embedded.python.",),
    "dulwich": ("netsharp_lsp.project.",),
}

#: What of the engine a language may use: kernel placement, names of activations, and the graph.
ENGINE_FOR_LANGUAGES = (
    "netsharp_engine.geometry",
    "netsharp_engine.activations",
    "netsharp_engine.devices.footprint",
    "netsharp_engine.graph",
)


#: The reference back end, and the modules that take it where a caller names no other.
NUMPY = "netsharp_engine.numpy_backend"
CHOOSERS = (
    "netsharp_engine.model.trained",
    "netsharp_engine.train.session",
    "netsharp_engine.backends.families",
    # What is predicted is what numpy's calls take.
    "netsharp_engine.costs.calibration",
    "netsharp_engine.costs.prediction",
)
#: What every back end reads of a graph, and what it is asked.
SHARED = tuple(
    f"netsharp_engine.{name}"
    for name in ("nodes", "graph", "analysis", "program", "phases", "activations")
)


def modules() -> dict[str, Path]:
    found = {}
    engine = [ROOT / "engine" / name for name in ("netsharp_compile", "netsharp_engine")]
    for folder in (ROOT / "netsharp", ROOT / "netsharp_lsp", *engine):
        for path in folder.rglob("*.py"):
            parts = path.relative_to(folder.parent).with_suffix("").parts
            name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            found[name] = path
    return {name: path for name, path in found.items() if path.exists()}


MODULES = modules()


@cache
def imports(module: str, path: Path | None = None) -> frozenset[str]:
    """Every module that a file names, on whatever level and for whatever purpose."""
    path = path or MODULES[module]
    here = module.split(".")
    package = here if path.name == "__init__.py" else here[:-1]
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            inner = {f"{base}.{alias.name}" for alias in node.names}
            found |= {name if name in MODULES else base for name in inner}
    return frozenset(found - {module})


@cache
def floor(module: str) -> int:
    """The floor of a module: that of its longest named prefix."""
    best, height = "", -1
    for number, rooms in enumerate(FLOORS):
        for room in rooms:
            inside = module == room or module.startswith(f"{room}.")
            if inside and len(room) > len(best):
                best, height = room, number
    return height


def test_imports_go_downwards() -> None:
    nowhere = [one for one in MODULES if one != "netsharp_lsp" and floor(one) < 0]
    assert not nowhere, "these stand on no floor: name them in FLOORS"
    upwards = [
        f"{module} imports {imported} from above"
        for module in MODULES
        for imported in sorted(imports(module))
        if imported.startswith("netsharp")
        and not imported.startswith("netsharp_grammar")
        and "netsharp_lsp" not in (module, imported)
        and floor(imported) > floor(module)
    ]
    assert not upwards, "\n".join(upwards)


def may_import(module: str, package: str) -> bool:
    """Whether a module is one of those, or in one of the rooms, that may name a package."""
    rooms = OUTSIDE.get(package)
    if rooms is None:
        return True
    return any(module == one or (one.endswith(".") and module.startswith(one)) for one in rooms)


def test_outside_packages_stay_in_their_rooms() -> None:
    astray = [
        f"{module} must not import {imported}"
        for module in MODULES
        for imported in sorted(imports(module))
        if not may_import(module, imported.partition(".")[0])
    ]
    assert not astray, "\n".join(astray)


def test_the_engine_and_the_compiler_know_nothing_of_languages() -> None:
    for module in MODULES:
        if module.startswith(("netsharp_compile", "netsharp_engine")):
            assert not any(name.startswith("netsharp_lsp") for name in imports(module)), module


def test_languages_use_the_engine_through_three_entry_points() -> None:
    for module in MODULES:
        if module.startswith("netsharp_lsp.netsharp"):
            used = {name for name in imports(module) if name.startswith("netsharp_engine")}
            assert used <= set(ENGINE_FOR_LANGUAGES), module
            if "netsharp_engine.graph" in used:
                # The family names the type of what `lower` makes.
                assert module in ("netsharp_lsp.netsharp.lower", "netsharp_lsp.netsharp.family")


def test_training_knows_programs_and_no_back_end() -> None:
    """Numpy's is named where a caller may name another, and nothing below it is."""
    named = {
        module: {name for name in imports(module) if name.startswith(f"{NUMPY}.")}
        for module, path in MODULES.items()
        if module.startswith("netsharp_engine") and not module.startswith(NUMPY)
    }
    users = {module for module, names in named.items() if NUMPY in imports(module)}
    assert users <= set(CHOOSERS)
    assert not any(named.values()), named


def test_training_of_cntk_names_its_back_end_in_one_place() -> None:
    tensors, room = "netsharp_engine.tensor_backend", "netsharp_engine.cntk"
    # What is exported is read as a back end reads it: loops, cells, and values computed from
    # parameters alone.  Torch shares with it what is computed on the host: loops, packings, draws,
    # sparse samples.
    torch = "netsharp_engine.torch_backend.tensors"
    choosers = (f"{room}.computing", "netsharp_engine.exporting", torch)
    for module in MODULES:
        if module.startswith("netsharp_engine") and not module.startswith((tensors, *choosers)):
            named = any(name.startswith(tensors) for name in imports(module))
            assert not named, f"{module}: ask {room}.computing.draft_of instead"


def test_what_back_ends_share_has_no_arrays() -> None:
    for module in SHARED:
        path = MODULES[module]
        body = tree(path).body
        known = {node.module for node in body if isinstance(node, ast.ImportFrom)}
        known |= {a.name for node in body if isinstance(node, ast.Import) for a in node.names}
        assert not any(name and name.partition(".")[0] == "numpy" for name in known), module


def test_the_formatter_does_not_know_the_checker() -> None:
    checker = ("rules", "check", "findings", "meaning", "repairs", "arithmetic")
    for module in MODULES:
        if module.startswith(("netsharp_lsp.netsharp.formatting", "netsharp_lsp.layout")):
            for name in imports(module):
                room = name.removeprefix("netsharp_lsp.netsharp.").partition(".")[0]
                assert not (name.startswith("netsharp_lsp.netsharp.") and room in checker), module


def test_networks_know_no_language_and_languages_not_one_another() -> None:
    for module in MODULES:
        used = {name for name in imports(module) if name.startswith("netsharp_lsp.")}
        if module.startswith("netsharp_lsp.cntk.networks"):
            below = ("netsharp_lsp.cntk.networks", "netsharp_lsp.cancellation")
            assert all(name.startswith(below) for name in used), module
        if module.startswith("netsharp_lsp.cntk"):
            assert not any(name.startswith("netsharp_lsp.netsharp") for name in used), module


def test_every_module_says_what_it_is() -> None:
    for module, path in MODULES.items():
        assert ast.get_docstring(tree(path)), module


@pytest.mark.parametrize("module", [one for one in MODULES if ".cntk.ndl" in one])
def test_ndl_is_evaluated_apart_from_brainscript_and_migration(module: str) -> None:
    for imported in imports(module):
        assert not imported.startswith(
            (
                "netsharp_lsp.cntk.brainscript",
                "netsharp_lsp.cntk.library",
                "netsharp_lsp.cntk.migration",
            )
        )
