"""`python -m tests.sanitized`: the compiled twins under the sanitizers of the C compiler.

They are built into a copy of the engine, and the tests that compare them with numpy run on that:
an access outside of an array, undefined behaviour or a race between threads ends a test.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ENGINE = ROOT / "engine" / "netsharp_engine"
#: As in setup.py, except for the optimisation, which hides the faults searched for.
FLAGS = (
    *("-std=c11", "-O0", "-g1", "-shared", "-fPIC", "-fno-omit-frame-pointer"),
    *("-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"),
    *("-DPy_LIMITED_API=0x030B0000", "-DPY_SSIZE_T_CLEAN"),
)
#: Tests that run the twins: those of a share, and beside them all that compute networks.
FEW = (
    "tests/engine/test_compiled_plans.py",
    "tests/engine/test_compiled_forward.py",
    "tests/engine/test_functions.py",
    "tests/engine/test_products.py",
    "tests/engine/test_samples_alike.py",
    *(f"tests/cntk/training/test_compiled_{n}.py" for n in ("cell", "rows", "text", "updates")),
    "tests/cntk/training/test_compiled_windows.py",
    "tests/engine_training/test_compiled_tables.py",
)
MANY = (
    *FEW,
    "tests/engine",
    "tests/engine_training/test_predict.py",
    "tests/engine_training/test_fast_path.py",
    "tests/cntk/training/test_random_networks.py",
    "tests/cntk/training/test_sequences.py",
    "tests/cntk/training/test_text_format.py",
)
THREADS = (
    "tests/engine/test_threads.py",
    "tests/engine/test_compiled_forward.py::test_several_threads_compute_at_once",
)


class Sanitizer(NamedTuple):
    """The compiler's flags, the libraries that go before Python, and their settings."""

    flags: tuple[str, ...]
    libraries: tuple[str, ...]
    environment: dict[str, str]


SANITIZERS = {
    "address": Sanitizer(
        ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"),
        ("libasan.so", "libubsan.so"),
        # Python frees little at its end; numpy asks for arrays that there may be no room for.
        {
            "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1",
            "PYTHONMALLOC": "malloc",
        },
    ),
    "thread": Sanitizer(
        ("-fsanitize=thread",), ("libtsan.so",), {"TSAN_OPTIONS": "halt_on_error=1:exitcode=66"}
    ),
}


def main() -> int:
    """Run what is asked for; 0 nothing found, 1 something found, 2 could not run."""
    parser = argparse.ArgumentParser(prog="python -m tests.sanitized", description=__doc__)
    parser.add_argument("--all", action="store_true", help="all tests that compute networks")
    parser.add_argument("--only", choices=SANITIZERS, help="only this sanitizer")
    args = parser.parse_args()
    for name in [args.only] if args.only else list(SANITIZERS):
        tests = THREADS if name == "thread" else (*THREADS, *(MANY if args.all else FEW))
        code = ran(SANITIZERS[name], tests)
        print(f"{name}: {'nothing was found' if code == 0 else 'see above'}", flush=True)
        if code:
            return code
    return 0


def ran(sanitizer: Sanitizer, tests: tuple[str, ...]) -> int:
    """Build the twins with a sanitizer and run tests on them."""
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        print("The twins are built with a C compiler, and there is none: install gcc.")
        return 2
    libraries = [found(compiler, name) for name in sanitizer.libraries]
    if None in libraries:
        print(f"{compiler} has no {' and no '.join(sanitizer.libraries)}: install gcc's.")
        return 2
    with tempfile.TemporaryDirectory() as folder:
        engine = Path(folder) / ENGINE.name
        shutil.copytree(ENGINE, engine, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        headers = f"-I{sysconfig.get_paths()['include']}"
        sources = sorted(str(path) for path in (ENGINE / "twins").glob("*.c"))
        target = ["-o", str(engine / "_twins.abi3.so")]
        subprocess.run([compiler, *FLAGS, *sanitizer.flags, headers, *sources, *target], check=True)
        environment = {
            **os.environ,
            **sanitizer.environment,
            "PYTHONPATH": folder,
            "LD_PRELOAD": " ".join(map(str, libraries)),
        }
        # What is not compiled is not tested: the twins must be those that were built.
        begin = f"import netsharp_engine._twins as t; assert t.__file__.startswith({folder!r})"
        subprocess.run([sys.executable, "-c", begin], check=True, env=environment)
        # Nothing is captured: the sanitizers report when the process ends.
        command = [sys.executable, "-m", "pytest", "-q", "-s", "-p", "no:cacheprovider", *tests]
        return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def found(compiler: str, library: str) -> str | None:
    """The path of a library of the compiler; None where it has none."""
    asked = [compiler, f"-print-file-name={library}"]
    path = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    return path if os.path.isabs(path) else None


if __name__ == "__main__":
    sys.exit(main())
