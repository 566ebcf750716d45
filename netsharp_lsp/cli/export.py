"""`netsharp export`: a trained network in the format of other programs, or as text of its own,
after a check that it is the same network.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from netsharp_compile.calibrating.rows import rows_of
from netsharp_compile.exporting.operands import WIDE_CODES
from netsharp_compile.refusal import CompileError
from netsharp_engine.data import DataError
from netsharp_engine.data.stream import RowQuery
from netsharp_engine.exporting.onnx.exported import DEFAULT_OPSET, OPSETS, OnnxForm
from netsharp_engine.exporting.onnx.written import WrittenOnnx, write_onnx
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.torch.exported import TorchForm
from netsharp_engine.exporting.torch.written import WrittenTorch, write_torch
from netsharp_engine.exporting.tsql.written import WrittenTsql, write_tsql
from netsharp_engine.graph import GraphError
from netsharp_engine.model import ModelError
from netsharp_lsp.cli.arguments.compiling import about_model, compiled_as_asked, compiled_options
from netsharp_lsp.cli.arguments.models import (
    add_network_arguments,
    files_query,
    read_model,
    reading_of,
)
from netsharp_lsp.cli.arguments.parser import positive
from netsharp_lsp.cli.arguments.quantisation import add_quantisation, quantisation_flags
from netsharp_lsp.cli.console.terminal import complain, say
from netsharp_lsp.language import read_network_text, read_portable, text_formats
from netsharp_lsp.project.writing import refusal, write_atomic, write_linked, write_together
from netsharp_lsp.settings import SettingsError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from netsharp_engine.model import Model
    from netsharp_lsp.outcome import WrittenNetwork

DONE, UNLIKE, FAILED = 0, 1, 2
FORMATS = {"onnx": ".onnx", "torch": ".py", "tsql": ".sql"}
#: The format of integers, and its suffix, which differs from that in floating point.
QUANTISED = {"onnx-qdq": ".qdq.onnx"}
#: The suffix of the file of numbers beside a text.
NUMBERS = ".safetensors"
#: The folder of the files of numbers that a network's text names.
PARAMETERS = ".parameters"
RANDOM = "random"
_LOST = "more is lost than --max-drop allows."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp export` understands."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file, also one of another program")
    add("--to", choices=(*FORMATS, *QUANTISED, *text_formats()), required=True, help="the format")
    add("file", metavar="FILE", nargs="?", help="the file to write (default: beside the model)")
    add(
        "--output",
        action="append",
        default=[],
        metavar="NODE",
        help="a node to export; may be repeated",
    )
    add(
        "--opset",
        type=positive,
        metavar="N",
        help=f"the version of ONNX's operators, {OPSETS[0]} to {OPSETS[-1]} (default: "
        f"{DEFAULT_OPSET}, and {WIDE_CODES} for codes of more than 8 bits)",
    )
    add(
        "--sequences-first",
        action="store_true",
        help="tensors of sequences are [sequences, steps, ...], not [steps, sequences, ...]",
    )
    add(
        "--verify",
        nargs="+",
        default=[RANDOM],
        metavar="DATA",
        help="compare answers for these files (default: random samples, of onnx-qdq the rows that "
        "ranges are read from)",
    )
    add_network_arguments(parser)
    add_quantisation(
        parser.add_argument_group(
            "quantisation of onnx-qdq, as in compile", "Other formats are not quantised."
        )
    )


class _Export(NamedTuple):
    """The files to write: the bytes of each, and the lines of the summary."""

    files: Mapping[str, bytes]
    lines: Sequence[str]
    #: The file of numbers until it has its name, for a text that reads it.
    meanwhile: str = ""


def run(args: argparse.Namespace) -> int:
    """Export and return the exit code: 0 done, 1 where the answers differ, 2 could not run."""
    suffix = {**FORMATS, **QUANTISED, **text_formats()}[args.to]
    target = args.file or os.path.splitext(args.model)[0] + suffix
    write = _exported if args.to in FORMATS else _written_back
    if args.to in QUANTISED:
        write = _quantised
    try:
        answer = write(args, target)
    except (DataError, ModelError, GraphError, SettingsError) as error:
        answer = str(error)
    except CompileError as error:
        answer = about_model(args.model, error)
    except ExportError as error:
        complain(f"{args.model}: {error}")
        return UNLIKE if error.differs else FAILED
    except OSError as error:
        answer = f"{error.filename or target}: cannot be written: {error.strerror}."
    if isinstance(answer, str):
        complain(answer)
        return FAILED
    say(answer)
    return DONE


def _exported(args: argparse.Namespace, target: str) -> Sequence[str] | str:
    """Write a format in floating point and return its summary, or why it is not written."""
    reason = _misplaced(args)
    if reason is not None:
        return reason
    for path in _paths(args.to, target):
        reason = refusal(path) or _overwriting(path, args.model)
        if reason is not None:
            return reason
    source = read_portable(args.model, args.output)
    if args.reader and args.verify == [RANDOM]:
        return "--reader says how the files of --verify are read. Name them, or leave it out."
    samples = None if args.verify == [RANDOM] else _samples(source, args)
    export = _WRITERS[args.to](source, target, args, samples)
    if len(export.files) == 1:
        write_atomic(target, export.files[target])
    else:
        write_linked(target, export.files, export.meanwhile)
    return export.lines


def _quantised(args: argparse.Namespace, target: str) -> Sequence[str] | str:
    """Write the integers of `netsharp compile` and return the summary, or why not."""
    unfit = {"--output": bool(args.output), "--sequences-first": args.sequences_first}
    flag = next((flag for flag, there in unfit.items() if there), None)
    if flag is not None:
        return f"{flag} says nothing of a network in integers, which answers rows. Leave it out."
    reason = refusal(target) or _overwriting(target, args.model)
    if reason is not None:
        return reason
    model = read_model(args.model)
    named = [] if args.verify == [RANDOM] else args.verify
    made, rows, notes = compiled_as_asked(args, model, compared=named)
    gate, verdict = made.report.gate, [*notes, *made.report.verdict_lines()]
    lost = gate is not None and not gate.is_met
    if lost and not args.force:
        say(verdict)
        raise ExportError(f"{_LOST} Nothing is written; --force writes it.", differs=True)
    samples = _named_rows(model, args) if named else rows()
    written = made.to_onnx(samples, opset=args.opset)
    write_atomic(target, written.data)
    what = f"{target}: {_counted(written.operators, 'operator')} of set {written.opset}"
    lines = [what, *(f"  {line}" for line in (*verdict, *written.lines()))]
    if lost:
        say(lines)
        raise ExportError(f"{_LOST} It was written all the same.", differs=True)
    return lines


def _written_back(args: argparse.Namespace, target: str) -> Sequence[str] | str:
    """Write the network of a model as text, with its numbers in a folder beside it, and return the
    summary, or why it is not written.
    """
    folder = os.path.splitext(target)[0] + PARAMETERS
    reason = _unfit(args) or refusal(target) or _overwriting(target, args.model)
    if reason is None and os.path.lexists(folder) and not os.path.isdir(folder):
        reason = f"{folder}: is not a folder, and the numbers are written there. Name another file."
    if reason is not None:
        return reason
    made = False
    try:
        found = read_network_text(args.model, _named_from_here(folder))
        if found.files and not os.path.isdir(folder):
            os.mkdir(folder)
            made = True
        numbers = {os.path.join(folder, name): data for name, data in found.files.items()}
        write_together({**numbers, target: found.text})
        made = False
    finally:
        if made:
            _remove_empty(folder)
    return _brainscript_lines(found, target, folder)


def _misplaced(args: argparse.Namespace) -> str | None:
    """Return why a flag has no meaning for a format in floating point; None where all have."""
    given = {
        "--opset": (args.opset is not None, ("onnx",), "ONNX's operators"),
        "--sequences-first": (args.sequences_first, ("onnx", "torch"), "tensors of sequences"),
        "--stream": (bool(args.stream), (), "the samples of a network in integers"),
        "--classes": (args.classes is not None, (), "the samples of a network in integers"),
        **dict.fromkeys(quantisation_flags(args), (True, (), "integers")),
    }
    for flag, (is_given, formats, what) in given.items():
        if is_given and args.to not in formats:
            return f"{flag} is about {what}, which --to {args.to} does not write. Leave it out."
    return None


def _unfit(args: argparse.Namespace) -> str | None:
    """Return why a flag has no meaning for a network's text; None where all have."""
    given = {
        "--output": bool(args.output),
        "--verify": args.verify != [RANDOM],
        "--reader": bool(args.reader),
        "--opset": args.opset is not None,
        "--sequences-first": args.sequences_first,
        "--stream": bool(args.stream),
        "--classes": args.classes is not None,
        **dict.fromkeys(quantisation_flags(args), True),
    }
    found = next((flag for flag, there in given.items() if there), None)
    if found is None:
        return None
    return f"{found} says nothing of a network's text, which holds all of it. Leave it out."


def _named_from_here(folder: str) -> str:
    """Return a folder as a text names it: relative to the working directory where it is below it,
    as CNTK finds files.
    """
    path = os.path.abspath(folder)
    near = (
        os.path.relpath(path)
        if os.path.splitdrive(path)[0] == os.path.splitdrive(os.getcwd())[0]
        else path
    )
    return (path if near.startswith(os.pardir) else near).replace(os.sep, "/")


def _remove_empty(folder: str) -> None:
    """Remove a folder that nothing was written to."""
    try:
        os.rmdir(folder)
    except OSError:
        return


def _brainscript_lines(found: WrittenNetwork, target: str, folder: str) -> list[str]:
    where = f", with {_counted(len(found.files), 'file')} of numbers in {folder}" * bool(
        found.files
    )
    lines = [f"{target}: {_counted(found.nodes, 'node')}{where}"]
    lines.append("  evaluated again: the same network, and the same numbers")
    lines += [f"  '{old}' is called {new} there" for old, new in found.renamed.items()]
    return [*lines, *(f"  {note}" for note in found.notes)]


def _paths(to: str, target: str) -> list[str]:
    """Return the files that are written, the numbers of a text first."""
    if to != "torch":
        return [target]
    return [os.path.splitext(target)[0] + NUMBERS, target]


def _overwriting(path: str, model: str) -> str | None:
    """Return why a file must not be written, being the model itself; None where it may."""
    try:
        if os.path.samefile(path, model):
            return f"{path}: is the model itself, which would be replaced. Name another file."
    except OSError:
        pass
    return None


def _samples(source: Portable | Model, args: argparse.Namespace) -> Iterator[Any]:
    files: list[str] = args.verify
    if isinstance(source, Portable):
        assert source.samples is not None
        return source.samples(files, reading_of(args.reader, files))
    if args.reader:
        raise DataError("--reader is for networks of another program, whose inputs have names.")
    return (part.features for part in source.rows(RowQuery(files, source.read_options())))


def _named_rows(model: Model, args: argparse.Namespace) -> Iterator[Any]:
    """Yield the features [rows, features] of the files to compare a network in integers on."""
    query = files_query(args, args.verify, compiled_options(model, args))
    if model.network is not None:
        return rows_of(model, query)()
    return (part.features for part in model.rows(RowQuery(query.paths, query.options)))


def _as_onnx(
    source: Portable | Model, target: str, args: argparse.Namespace, samples: Iterator[Any] | None
) -> _Export:
    written = write_onnx(
        source, OnnxForm(args.opset or DEFAULT_OPSET, args.sequences_first), samples
    )
    what = f"{target}: {_counted(written.operators, 'operator')}"
    return _Export({target: written.data}, _lines(what, written, "onnxruntime", args.verify))


def _as_torch(
    source: Portable | Model, target: str, args: argparse.Namespace, samples: Iterator[Any] | None
) -> _Export:
    numbers, _ = paths = _paths("torch", target)
    if numbers == target:
        raise ExportError(f"the text and its numbers cannot both be {target}. Name a file .py.")
    written = write_torch(source, TorchForm(args.sequences_first), samples)
    what = f"{target}: {_counted(written.layers, 'layer')}, with their numbers in {numbers}"
    files = dict(zip(paths, (written.numbers, written.text.encode()), strict=True))
    stem, suffix = os.path.splitext(numbers)
    meanwhile = f"{stem}.{written.digest}{suffix}"
    return _Export(files, _lines(what, written, "PyTorch", args.verify), meanwhile)


def _as_tsql(
    source: Portable | Model, target: str, args: argparse.Namespace, samples: Iterator[Any] | None
) -> _Export:
    name = os.path.splitext(os.path.basename(target))[0]
    written = write_tsql(source, name, samples)
    what = f"{target}: {_counted(written.weights, 'weight')}"
    return _Export({target: written.data}, _lines(what, written, "DuckDB", args.verify))


#: The programs that compare answers, where these are several.
_NEEDED = {"DuckDB": "DuckDB or sqlglot, which reads T-SQL for it, is"}
_WRITERS = {"onnx": _as_onnx, "torch": _as_torch, "tsql": _as_tsql}


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _lines(
    what: str,
    written: WrittenOnnx | WrittenTorch | WrittenTsql,
    program: str,
    verify: list[str],
) -> list[str]:
    found = [
        what,
        f"  inputs: {', '.join(written.inputs)}",
        f"  outputs: {', '.join(written.outputs)}",
    ]
    if written.differences is None:
        needed = _NEEDED.get(program, f"{program} is")
        found.append(f"  {needed} not installed: the answers were not compared.")
    on = "random samples" if verify == [RANDOM] else ", ".join(verify)
    found += [
        f"  {one.output} in {program}, on {on}: at most {one.most:.2g} from the engine's, "
        f"{one.relative:.1g} of the largest value"
        for one in written.differences or ()
    ]
    return found
