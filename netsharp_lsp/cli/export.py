"""`netsharp export`: a trained network in the format of other programs, with the proof that it is
the same network.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from netsharp_engine.data import DataError
from netsharp_engine.data.stream import RowQuery
from netsharp_engine.exporting.onnx.exported import DEFAULT_OPSET, OPSETS, OnnxForm
from netsharp_engine.exporting.onnx.written import WrittenOnnx, write_onnx
from netsharp_engine.exporting.portable import Portable
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.graph import GraphError
from netsharp_engine.model import ModelError
from netsharp_lsp.cli.arguments.parser import positive
from netsharp_lsp.cli.console.terminal import complain, say
from netsharp_lsp.language import read_portable
from netsharp_lsp.project.writing import refusal, write_atomic

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator
    from typing import Any

    from netsharp_engine.model import Model

DONE, UNLIKE, FAILED = 0, 1, 2
FORMATS = {"onnx": ".onnx"}
RANDOM = "random"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp export` understands."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file, of whatever program")
    add("--to", choices=tuple(FORMATS), required=True, help="the format")
    add("file", metavar="FILE", nargs="?", help="the file to write (default: beside the model)")
    add("--output", action="append", default=[], metavar="NODE", help="a node to export; repeat it")
    add(
        "--opset",
        type=positive,
        default=DEFAULT_OPSET,
        metavar="N",
        help=f"the version of ONNX's operators, {OPSETS[0]} to {OPSETS[-1]} (default: %(default)s)",
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
        help="compare answers for these files (default: random samples)",
    )


def run(args: argparse.Namespace) -> int:
    """Export; 0 done, 1 where the answers differ, 2 could not run."""
    target = args.file or os.path.splitext(args.model)[0] + FORMATS[args.to]
    reason = refusal(target)
    if reason is not None:
        complain(reason)
        return FAILED
    try:
        source = read_portable(args.model, args.output)
        samples = None if args.verify == [RANDOM] else _samples(source, args.verify)
        written = write_onnx(source, OnnxForm(args.opset, args.sequences_first), samples)
        write_atomic(target, written.data)
    except (DataError, ModelError, GraphError) as error:
        complain(str(error))
        return FAILED
    except ExportError as error:
        complain(f"{args.model}: {error}")
        return UNLIKE if error.differs else FAILED
    except OSError as error:
        complain(f"{target}: cannot be written: {error.strerror}.")
        return FAILED
    say(_lines(target, written, args.verify))
    return DONE


def _samples(source: Portable | Model, files: list[str]) -> Iterator[Any]:
    if isinstance(source, Portable):
        assert source.samples is not None
        return source.samples(files)
    return (part.features for part in source.rows(RowQuery(files, source.read_options())))


def _lines(target: str, written: WrittenOnnx, verify: list[str]) -> Iterator[str]:
    count = written.operators
    yield f"{target}: {count} operator{'' if count == 1 else 's'}"
    yield f"  inputs: {', '.join(written.inputs)}"
    yield f"  outputs: {', '.join(written.outputs)}"
    if written.differences is None:
        yield "  onnxruntime is not installed: the answers were not compared."
    for one in written.differences or ():
        on = "random samples" if verify == [RANDOM] else ", ".join(verify)
        yield (
            f"  {one.output} in onnxruntime, on {on}: at most {one.most:.2g} from the engine's, "
            f"{one.relative:.1g} of the largest value"
        )
