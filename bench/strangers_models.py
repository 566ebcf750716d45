"""What can be done with a folder of model files of CNTK that others made.

    python bench/strangers_models.py FOLDER

Every file that begins as a model is opened, answered on random samples, and exported to ONNX and
compared there with what we answer (where onnxruntime is installed).  Nothing is written.  A line a
file says how far it came, and why no further; the last lines count the reasons.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections import Counter
from typing import NamedTuple

from netsharp_engine.cntk.stored.opening import SHORTEST, kind_of
from netsharp_engine.exporting.onnx.exported import OnnxForm
from netsharp_engine.exporting.onnx.written import write_onnx
from netsharp_engine.exporting.refusal import ExportError
from netsharp_engine.exporting.sampling import engine_values, random_samples
from netsharp_engine.graph import GraphError
from netsharp_engine.model_file import ModelError
from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cntk.training.portable import portable_model
from netsharp_lsp.cntk.training.stored_models import stored_model

#: How far a file came.
STAGES = ("opened", "answered", "exported")
_SEED = 1
#: Names and numbers of one file, which are left out where reasons are counted.
_OWN = re.compile(r"'[^']*'|\d[\d,.]*")


class Tried(NamedTuple):
    """A file, how many of the stages it passed, and why no more; seconds of all."""

    path: str
    about: str
    stages: int
    reason: str
    seconds: float


def files_below(folder: str) -> list[str]:
    """The files below a folder that begin as models of CNTK, in order."""
    found = []
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(place, name)
            try:
                with open_plain(path) as stream:
                    kind = kind_of(stream.read(SHORTEST))
            except (OSError, ValueError):
                continue
            if kind in ("v1", "v2"):
                found.append(path)
    return found


def tried(path: str) -> Tried:
    """Try one file."""
    begun = time.perf_counter()
    about, stages, reason = "", 0, ""
    try:
        stored = stored_model(path)
        if stored is None:
            raise ModelError("is no model.")
        stages, about = 1, f"{stored.format} version {stored.version}, {len(stored.nodes)} nodes"
        portable = portable_model(path, ())
        if portable is None:
            raise ModelError("is no model.")
        samples = random_samples(portable, _SEED)
        engine_values(portable, samples, [2] * len(portable.outputs))
        stages = 2
        written = write_onnx(portable, OnnxForm())
        stages = 3
        if written.differences is None:
            reason = "not compared: onnxruntime is not installed."
        else:
            most = max((one.relative for one in written.differences), default=0.0)
            reason = f"at most {most:.2g} of the largest value apart in onnxruntime."
    except (ModelError, ExportError, GraphError) as error:
        reason = str(error).removeprefix(f"{path}: ").removeprefix(f"{path}, ")
    except Exception as error:
        reason = f"FAILED with {type(error).__name__}: {error}"
    return Tried(path, about, stages, reason, time.perf_counter() - begun)


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each file, and what kept files from going further."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", metavar="FOLDER")
    folder = parser.parse_args(arguments).folder
    paths = files_below(folder)
    if not paths:
        print(f"No file below {folder} begins as a model of CNTK.", file=sys.stderr)
        return 1
    rows = []
    for path in paths:
        row = tried(path)
        rows.append(row)
        how = STAGES[row.stages - 1] if row.stages else "not opened"
        print(
            f"{os.path.relpath(row.path, folder)}: {row.about or 'a model'}, {how} in "
            f"{row.seconds:.1f} s: {row.reason}"
        )
    print()
    for number, stage in enumerate(STAGES, 1):
        print(f"{stage}: {sum(row.stages >= number for row in rows)} of {len(rows)}")
    reasons = Counter(_OWN.sub("…", row.reason) for row in rows if row.stages < len(STAGES))
    for reason, count in reasons.most_common():
        print(f"{count} x {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
