"""Experiments of CNTK from Python: a run as a plain value, and what becomes of its old networks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from netsharp._subjects import (
    Around,
    Subject,
    assignments,
    file_or_none,
    inspected,
    looked_up,
    question_about,
    sentences,
)
from netsharp._values import Command, Experiment, Migration, Network, Node, Value
from netsharp_lsp.cli.inputs.files import Naming, gather
from netsharp_lsp.language import families
from netsharp_lsp.project.disk_files import DiskFiles
from netsharp_lsp.project.folders import excluder
from netsharp_lsp.project.read_once import ReadOnce
from netsharp_lsp.project.roots import own_roots, roots_around
from netsharp_lsp.questions import Wanted
from netsharp_lsp.settings import SettingsFinder
from netsharp_lsp.specification import Specification, file_name

if TYPE_CHECKING:
    from netsharp._settings import Language
    from netsharp_lsp.family import Experiments


def experiment(
    specification: Specification,
    *,
    language: Language | None = None,
    set: Mapping[str, object] | None = None,
) -> Experiment:
    """Read a run of CNTK: its files, commands, networks and values, and what is wrong with it.

    Nothing is executed or trained, and nothing is read outside the work tree of git around what is
    named, else its folder; a text for itself reads no other file.

    Parameters
    ----------
    specification : str or path object
        A text, or the path of its file: a path object, or one line that ends like a file of ours.
        Layers of configurations are "a.cntk+b.cntk".
    language : {"netsharp", "cntk", "brainscript", "ndl", "mel"}, optional
        The language of it, whatever its name; a `str` is then a text.  Without it a file's name
        decides, and a text is Net#.
    set : mapping of str to value, optional
        Assignments after the files of a configuration, as `--set KEY=VALUE`.

    Returns
    -------
    Experiment
        All of it as plain values.  Faults are findings, not exceptions: what they leave unknown is
        not there.

    Raises
    ------
    ValueError
        It is not a text, or an argument is invalid.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
    """
    subject = Subject(specification, language)
    experiments = subject.family.experiments
    if experiments is None:
        raise ValueError(
            f"{subject.name} is in {subject.family.title}, which has no experiments. Name a "
            "configuration, or say its language."
        )
    assigned = assignments(set)
    found = inspected(subject, assigned)
    networks = _networks(subject, experiments, assigned)
    values: tuple[Value, ...] = ()
    if _is_configuration(subject, experiments):
        document = looked_up(subject, assigned).document
        values = tuple(map(_value, document["values"] if document is not None else ()))
    names = next((one.elements for one in values if one.path.lower() == "command"), None) or ()
    listed = {name.lower() for name in names}
    return Experiment(
        _files(subject, experiments),
        (
            *(_command(name, subject, assigned, networks) for name in names),
            *(
                _command(name, subject, assigned, networks)
                for name in networks
                if name.lower() not in listed
            ),
        ),
        values,
        tuple(found),
    )


def migrate(
    path: str | os.PathLike[str],
    *,
    set: Mapping[str, object] | None = None,
    force: bool = False,
) -> Migration:
    """Compute what NDL networks become in BrainScript, proven node by node; nothing is written.

    Parameters
    ----------
    path : str or path object
        A configuration, layers "a.cntk+b.cntk", or a folder of them.
    set : mapping of str to value, optional
        Assignments after the files of a configuration, as `--set KEY=VALUE`.
    force : bool, optional
        Also replace `.bs` files that are there and different.

    Returns
    -------
    Migration
        What would be written, and the report; empty where there is nothing to migrate.

    Raises
    ------
    ValueError
        It is not a text, or an argument is invalid.
    OSError
        The file cannot be read.

    Since
    -----
    0.1
    """
    name = file_name(path)
    roots = roots_around([path for path in name.split("+") if path], sentences(own_roots))
    find = SettingsFinder(roots.leads_out).find
    files = ReadOnce(DiskFiles(roots=roots))
    gathered = sentences(lambda: gather([name], excluder(find), Naming(), roots))
    family = next(one for one in families() if one.migrations is not None)
    assert family.migrations is not None
    languages = {}
    for item in gathered.inputs:
        if item.path is None:
            continue
        os.stat(item.path)  # What is not there is an error of the system's.
        if item.language in family.suffixes.values():
            languages[os.path.realpath(item.path)] = item.language
    folders = [name] if os.path.isdir(name) else []
    request = Wanted(languages, folders, gathered.layers, files, find, roots)
    request.assignments, request.force = assignments(set), force
    migrations = family.migrations
    migration = sentences(lambda: migrations.plan(request))
    problems = [*gathered.missing, *migration.problems]
    if problems:
        raise ValueError(" ".join(problems))
    units = migration.units
    changed: dict[str, bytes] = {}
    for unit in units:
        if not unit.fails:
            texts = unit.changed()
            changed |= {file: texts[file] for file in unit.ordered(texts)}
    complete = not any(unit.fails or unit.needs_person for unit in units)
    return Migration(complete, changed, migration.data(()))


def _is_configuration(subject: Subject, experiments: Experiments) -> bool:
    """Return whether it says what a run does, and is not a network for itself."""
    starts = {subject.family.suffixes[suffix] for suffix in experiments.starts}
    return subject.family.configurations is not None and subject.language in starts


def _files(subject: Subject, experiments: Experiments) -> tuple[str, ...]:
    """Return the files of a run as people call them: those that are named first."""
    if subject.items[0].path is None:
        return ()
    around = Around([subject])
    files = experiments.files({}, around.roots)
    named = [os.path.realpath(item.path) for item in subject.items if item.path is not None]
    used: set[str] = set()
    for path in named:
        settings = sentences(lambda: around.find(os.path.dirname(path)))  # noqa: B023
        given = experiments.given(settings)
        used |= experiments.supposed(path, given, files).files(files)
    present = [path for path in sorted(used.difference(named)) if os.path.isfile(path)]
    return tuple(_called(path) for path in [*named, *present])


def _called(path: str) -> str:
    """Return a real path as people see it: from here where it lies below."""
    relative = os.path.relpath(path)
    return path if relative.startswith(os.pardir) else relative


def _networks(
    subject: Subject, experiments: Experiments, assigned: tuple[str, ...]
) -> dict[str, Network]:
    """Return the networks of a run by their commands, as far as there are any without errors."""
    first = _described(subject, experiments, assigned, None)
    if first is None:
        return {}
    found = {}
    for name in first["commands"] or [first["command"]]:
        same = name == first["command"]
        document = first if same else _described(subject, experiments, assigned, name)
        if document is not None:
            found[name or ""] = _network(document)
    return found


def _described(
    subject: Subject, experiments: Experiments, assigned: tuple[str, ...], command: str | None
) -> dict[str, Any] | None:
    request = question_about([subject], assigned)
    request.command = command
    return sentences(lambda: experiments.describe(subject.name, request)).document


def _command(
    name: str, subject: Subject, assigned: tuple[str, ...], networks: Mapping[str, Network]
) -> Command:
    network = next((one for key, one in networks.items() if key.lower() == name.lower()), None)
    if not name:
        return Command(name, (), network)
    document = looked_up(subject, assigned, f"{name}.action").document
    actions = (document or {}).get("elements") or ()
    return Command(name, tuple(actions), network)


def _network(document: dict[str, Any]) -> Network:
    return Network(
        document["command"] or "",
        tuple(map(_node, document["nodes"])),
        document["parameters"],
        document["multiply_adds"],
        document["memory_bytes"],
        tuple(map(tuple, document["loops"])),
    )


def _node(row: dict[str, Any]) -> Node:
    shape = row["shape"]
    return Node(
        row["name"],
        row["operation"],
        tuple(row["inputs"]),
        None if shape is None else tuple(shape),
        row["axis"],
        tuple(row["groups"]),
        row["parameters"],
        row["trainable"],
        tuple((name, _frozen(value)) for name, value in row["attributes"].items()),
        row["loop"],
        file_or_none(row["file"]),
        row["start"]["line"],
        row["start"]["column"],
    )


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _value(row: dict[str, Any]) -> Value:
    elements, origin = row["elements"], row["origin"]
    return Value(
        row["path"],
        row["kind"],
        row["raw"],
        row["value"],
        None if elements is None else tuple(elements),
        file_or_none(origin["file"]),
        origin["start"]["line"],
        origin["start"]["column"],
    )
