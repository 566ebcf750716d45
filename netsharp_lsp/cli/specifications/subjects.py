"""The subjects of `describe` and `diff`: a specification, a model file, or `REVISION:path` of git.

Reads disk and git; imports numpy only for a model file.
"""

from __future__ import annotations

import os

from netsharp_lsp.cli.arguments.context import context_around
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.cli.inputs.files import named_input, read_source
from netsharp_lsp.context import FIELDS, Context
from netsharp_lsp.outcome import ReadError
from netsharp_lsp.project.revision_files import NoGitError, RevisionFiles, split_revision
from netsharp_lsp.text.decode import DecodeError, decode
from netsharp_lsp.text.extent import refused
from netsharp_lsp.workspace import outside

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from netsharp_lsp.cli.inputs.embedded import Embedded
    from netsharp_lsp.cli.inputs.files import Input
    from netsharp_lsp.project.folders import Find
    from netsharp_lsp.project.roots import Roots

MODEL_SUFFIX = ".safetensors"


class SubjectError(Exception):
    """A subject that cannot be read, as a sentence that names it."""


class Subject:
    """A specification: its name, its text, and the facts around it.

    `embedded`: its place in a host file, None for a file of its own.
    """

    __slots__ = ("context", "embedded", "name", "text")

    def __init__(
        self, name: str, text: bytes, context: Context, embedded: Embedded | None = None
    ) -> None:
        self.name = name
        self.text = text
        self.context = context
        self.embedded = embedded


def read_subject(
    argument: str,
    args: argparse.Namespace,
    find: Find,
    roots: Roots,
    stdin_name: str | None = None,
) -> Subject:
    """Read the file that an argument names. Raises SubjectError where it cannot be read."""
    if argument.endswith(MODEL_SUFFIX):
        return _model(argument)
    item = named_input(argument, stdin_name)
    revision, path = split_revision(item.name) if item.path is not None else (None, "")
    if revision is not None:
        item.path = os.path.abspath(path)
        return _revision(item, revision, args, find, roots)
    source = read_source(item)
    if isinstance(source, ReadError):
        raise SubjectError(source.message)
    assert source is not None
    return _subject(item, source.text, args, find, roots)


def _subject(
    item: Input, text: bytes, args: argparse.Namespace, find: Find, roots: Roots
) -> Subject:
    place = item.path if item.path is not None else os.path.abspath(item.name)
    settings = find(os.path.dirname(place))
    embedded = embedded_in(item, text)
    call = embedded.region.context if embedded is not None else None
    context, problems = context_around(place, args, settings.context, roots, call)
    if problems:
        raise SubjectError(problems[0])
    if context.outside is not None:
        complain(f"{item.name}: the run file is not used: {outside(context.outside)}")
    if embedded is not None:
        text = embedded.region.text
    return Subject(item.name, text, context, embedded)


def embedded_in(item: Input, text: bytes) -> Embedded | None:
    """Return the specification that is meant of those in a host file, None for other files.

    SubjectError, a sentence, where not exactly one is meant.
    """
    if item.host is None:
        return None
    from netsharp_lsp.cli.inputs.embedded import Embedded, one_specification
    from netsharp_lsp.text.lines import LineIndex

    region = one_specification(item, text)
    if isinstance(region, str):
        raise SubjectError(region)
    return Embedded(item.name, region, LineIndex(text))


def _model(path: str) -> Subject:
    """Return the specification inside a model file, with the context it was trained in."""
    from netsharp_engine.model_file import ModelError, read_model, read_network

    try:
        values, _tensors = read_model(path)
        specification, known = read_network(values)
    except ModelError as error:
        raise SubjectError(str(error)) from None
    except ValueError as error:
        raise SubjectError(f"{path} is damaged: {error}. Train again or take a copy.") from None
    context = Context(**{key: value for key, value in known.items() if key in FIELDS})
    context.origin = dict.fromkeys(context.known(), os.path.basename(path))
    return Subject(path, specification.encode(), context)


def _revision(
    item: Input, revision: str, args: argparse.Namespace, find: Find, roots: Roots
) -> Subject:
    """Return a file as it was in a revision of git; its path is where it is, or would be, now."""
    path = item.path or ""
    try:
        source = decode(RevisionFiles(revision, path).shown(path))
    except NoGitError as error:
        raise SubjectError(f"{item.name}: {error}") from None
    if isinstance(source, DecodeError):
        raise SubjectError(f"{item.name}: {source.message}")
    why = refused(source.text, item.family.extent) if item.host is None else None
    if why is not None:
        raise SubjectError(f"{item.name}: {why}")
    return _subject(item, source.text, args, find, roots)
