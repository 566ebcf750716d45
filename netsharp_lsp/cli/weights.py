"""`netsharp weights`: what a model has learned, listed, or inside its specification."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netsharp_engine.data.array_files import array_bytes, read_arrays
from netsharp_engine.model import ModelError
from netsharp_lsp.cli.arguments.models import read_model
from netsharp_lsp.cli.console.terminal import complain, give_exactly
from netsharp_lsp.context import FIELDS, Context
from netsharp_lsp.language import family_with, read_numbers, with_numbers
from netsharp_lsp.project.writing import write_atomic
from netsharp_lsp.text.extent import refused

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from typing import Any

    import numpy.typing as npt

    from netsharp_engine.model import Model

DONE, FAILED = 0, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add what `netsharp weights` understands."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file, also one of another program")
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "--spec", action="store_true", help="write the specification with the trained weights in it"
    )
    what.add_argument("--list", action="store_true", help="only list names and shapes (default)")
    what.add_argument(
        "--statistics", action="store_true", help="mean, deviation, norm and zeros of each"
    )
    what.add_argument("--to", metavar="FILE", help="write them as arrays: .npz or .safetensors")
    what.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        help="replace arrays of a model of another program by those of such a file",
    )
    add(
        "--output",
        metavar="FILE",
        help="write to a file; with --from, instead of changing the model",
    )


def run(args: argparse.Namespace) -> int:
    """List a model's weights, or write its specification with them; 0 done, 2 could not run."""
    target = args.to or args.output or (args.model if args.source else None)
    try:
        text = _specification_text(args)
    except ModelError as error:
        complain(str(error))
        return FAILED
    if target is None:
        give_exactly(text)
    else:
        try:
            write_atomic(target, text)
        except OSError as error:
            complain(f"{target}: cannot be written: {error.strerror}.")
            return FAILED
    if args.spec and (reason := refused(text)):
        written = args.output or "the specification"
        complain(f"{written} {reason} 'predict' and 'evaluate' take the model itself.")
    return DONE


def _specification_text(args: argparse.Namespace) -> bytes:
    """Return the bytes to write. Raises ModelError where they cannot be made."""
    if args.spec:
        return _with_weights(args.model)
    if args.source:
        return with_numbers(args.model, read_arrays(args.source))
    numbers = read_numbers(args.model)
    if args.to:
        return array_bytes(args.to, numbers)
    return statistics(numbers) if args.statistics else listing(numbers)


def statistics(tensors: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Return each parameter with its mean, deviation, norm and count of zeros."""
    lines = []
    for name, array in tensors.items():
        flat = np.asarray(array, np.float64).reshape(-1)
        zeros = int((flat == 0).sum())
        with np.errstate(invalid="ignore", over="ignore"):
            mean, deviation, norm = flat.mean(), flat.std(), np.sqrt((flat * flat).sum())
        lines.append(
            f"{name}  {list(array.shape)}  mean {mean:.6g}  deviation {deviation:.6g}  "
            f"norm {norm:.6g}  zeros {zeros:,} of {flat.size:,}\n"
        )
    return "".join(lines).encode()


def _with_weights(path: str) -> bytes:
    """Return the specification of a model with its numbers; ModelError where it has none."""
    model = read_model(path)
    if not model.specification:
        raise ModelError(f"{path} has no specification: it is a model of another program.")
    return specification_with_weights(model)


def listing(tensors: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """Return each parameter with its shape and its range of values."""
    lines = [
        f"{name}  {list(array.shape)}  {array.min():.6g} .. {array.max():.6g}"
        for name, array in tensors.items()
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def specification_with_weights(model: Model) -> bytes:
    """Return the model's specification with trained numbers that read back bit-equal."""
    known = {field: model.context[field] for field in FIELDS if field in model.context}
    values = {name: literals(array) for name, array in model.tensors.items()}
    training = family_with(lambda family: family.training)
    return training.with_values(model.specification.encode(), Context(**known), values)


def literals(array: npt.NDArray[np.floating]) -> list[str]:
    """Return the shortest decimals that read back as the same numbers."""
    flat = array.ravel()
    texts = [str(number) for number in flat]
    back = np.array([float(text) for text in texts]).astype(flat.dtype)
    for position in np.flatnonzero(back != flat):
        # The shortest text of a float32 may round to its neighbour on the way through float64.
        texts[position] = repr(float(flat[position]))
    return texts
