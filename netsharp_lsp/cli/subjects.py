"""What `describe` and `diff` look at: a specification, a model file, or `REVISION:path` of git.

Reads disk and git; imports numpy only for a model file.
"""

from __future__ import annotations

import os

from netsharp_lsp.cli.context import context_around
from netsharp_lsp.cli.files import Input, ReadError, read_source
from netsharp_lsp.context import FIELDS, Context
from netsharp_lsp.text.decode import DecodeError, decode

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse

    from netsharp_lsp.project.folders import Find

MODEL_SUFFIX = ".safetensors"


class SubjectError(Exception):
    """A subject that cannot be read, as a sentence that names it."""


class Subject:
    """A specification to look at: its name, its text, and what is known around it."""

    __slots__ = ("context", "name", "text")

    def __init__(self, name: str, text: bytes, context: Context) -> None:
        self.name = name
        self.text = text
        self.context = context


def read_subject(
    argument: str, args: argparse.Namespace, find: Find, stdin_name: str | None = None
) -> Subject:
    """Read what an argument names; SubjectError where it cannot be read."""
    if argument.endswith(MODEL_SUFFIX):
        return _model(argument)
    revision, colon, path = argument.partition(":")
    if colon and len(revision) > 1 and not os.path.exists(argument):
        return _revision(argument, revision, path, args, find)
    if argument == "-":
        item = Input(stdin_name or "<stdin>", None)
    else:
        item = Input(argument, os.path.abspath(argument))
    source = read_source(item)
    if isinstance(source, ReadError):
        raise SubjectError(source.message)
    assert source is not None
    place = item.path if item.path is not None else os.path.abspath(item.name)
    return _subject(item.name, source.text, place, args, find)


def _subject(name: str, text: bytes, place: str, args: argparse.Namespace, find: Find) -> Subject:
    settings = find(os.path.dirname(place))
    context, problems = context_around(place, args, settings.context)
    if problems:
        raise SubjectError(problems[0])
    return Subject(name, text, context)


def _model(path: str) -> Subject:
    """The specification inside a model file, with the context it was trained in."""
    from netsharp_engine.model_file import ModelError, read_file

    try:
        values, _tensors = read_file(path)
    except ModelError as error:
        raise SubjectError(str(error)) from None
    specification, known = values.get("specification"), values.get("context")
    if not isinstance(specification, str) or not isinstance(known, dict):
        raise SubjectError(f"{path}: the model file holds no specification.")
    context = Context(**{key: value for key, value in known.items() if key in FIELDS})
    context.origin = dict.fromkeys(context.known(), os.path.basename(path))
    return Subject(path, specification.encode(), context)


def _revision(name: str, revision: str, path: str, args: argparse.Namespace, find: Find) -> Subject:
    """A file as it was in a revision of git; `path` is relative to the working directory."""
    import subprocess

    folder, base = os.path.split(os.path.abspath(path))
    command = ["git", "-C", folder or ".", "show", f"{revision}:./{base}"]
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        raise SubjectError(f"{name}: git is needed to read a revision, and is not there.") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().splitlines()
        raise SubjectError(f"{name}: git cannot show it: {reason[-1] if reason else 'unknown'}.")
    source = decode(done.stdout)
    if isinstance(source, DecodeError):
        raise SubjectError(f"{name}: {source.message}")
    return _subject(name, source.text, os.path.join(folder, base), args, find)
