"""Everything that is measured, side by side in one run: figures, bounds, and whether they are met.

    python bench/run.py [--only PART]

The exit code is 0 whatever the figures are, and 1 where a part could not run.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
import time

# One thread each, set before anything loads a numeric library.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")

PARTS = (
    *("start", "text", "cntk", "experiments", "server", "engine", "costs"),
    *("training", "digits", "models", "tables", "quantized", "compiled"),
)
#: Those that run the console script of an installed wheel.
INSTALLED = ("start", "text", "cntk", "experiments", "server", "training")


def main() -> int:
    """Run the parts that are asked for, by default all."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--only", choices=PARTS, action="append", help="one part; may be repeated")
    parts = parser.parse_args().only or PARTS
    print(
        f"{_processor()}, {os.cpu_count()} processors, {platform.system()}, "
        f"CPython {platform.python_version()}"
    )
    started = time.perf_counter()
    met: dict[str, bool | None] = {}
    with tempfile.TemporaryDirectory(prefix="netsharp-bench-") as folder:
        binaries = _installed(folder) if set(INSTALLED) & set(parts) else ""
        for part in PARTS:
            if part in parts:
                met[part] = _measure(part, folder, binaries)
    words = {True: "every bound met", False: "a bound is NOT met", None: "could not run"}
    print(f"\nin {time.perf_counter() - started:.0f} s")
    for part, state in met.items():
        print(f"  {part:<11} {words[state]}")
    return int(None in met.values())


def _installed(folder: str) -> str:
    import start

    try:
        return start.install(folder)
    except RuntimeError as error:
        print(f"The wheel could not be built or installed: {error}", file=sys.stderr)
        return ""


def _measure(part: str, folder: str, binaries: str) -> bool | None:
    """Whether a part's bounds are met; None where it could not run."""
    try:
        if part in INSTALLED:
            return _measure_installed(part, folder, binaries) if binaries else None
        if part == "engine":
            import engine_vs_torch
            import inference
            import torch_backend

            trained = engine_vs_torch.measure()
            by_torch = torch_backend.measure()
            return inference.measure() and trained and by_torch
        if part == "costs":
            import predicted

            return predicted.measure()
        if part == "models":
            import opened_models

            return opened_models.measure()
        if part == "quantized":
            import quantized

            return quantized.measure()
        if part == "compiled":
            import compiled

            return compiled.measure()
        if part == "tables":
            import tables

            return tables.measure(folder)
        import accuracy

        return accuracy.measure(folder)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        print(f"  {part} could not run: {error}", file=sys.stderr)
        return None


def _measure_installed(part: str, folder: str, binaries: str) -> bool:
    if part == "start":
        import start

        return start.measure(folder, binaries)
    if part == "cntk":
        import cntk_texts

        return cntk_texts.measure(folder, binaries)
    if part == "experiments":
        import experiments

        return experiments.measure(folder, binaries)
    if part == "training":
        import cntk_training

        return cntk_training.measure(folder, binaries)
    if part == "server":
        import language_server

        return language_server.measure(folder, binaries)
    import throughput

    return throughput.measure(folder, binaries)


def _processor() -> str:
    """The processor's name where the system tells it."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            names = [line.split(":", 1)[1].strip() for line in stream if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    sys.exit(main())
