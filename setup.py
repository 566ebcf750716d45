"""Builds the C extensions, one a grammar and the engine's twins; all else is in pyproject.toml."""

import os

from setuptools import Extension, setup

GRAMMARS = ("netsharp", "brainscript", "cntk")
#: The engine does the same in numpy where no compiler takes these.
TWINS = "engine/netsharp_engine/twins"
SOURCES = (
    "module",
    "answers",
    "dropping",
    "forward",
    "functions",
    "cell",
    "rows",
    "packing",
    "plans",
    "product",
    "text",
    "sequences",
    "table",
    "updates",
    "windows",
)
HEADERS = (
    "cell",
    "decimal",
    "forward_of",
    "functions",
    "functions_of",
    "plans",
    "product",
    "text",
    "twins",
    "updates",
    "vectors",
    "windows",
)
#: Without the last two compilers leave roots and comparisons out of vectors.
FLAGS = ["-std=c11", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"]

setup(
    ext_modules=[
        Extension(
            f"netsharp_grammar._{name}",
            sources=[
                f"grammar/netsharp_grammar/{name}.c",
                f"grammar/{name}/src/parser.c",
                f"grammar/{name}/src/scanner.c",
            ],
            include_dirs=[f"grammar/{name}/src"],
            extra_compile_args=["-std=c11"] if os.name != "nt" else [],
            define_macros=[("Py_LIMITED_API", "0x030B0000"), ("PY_SSIZE_T_CLEAN", None)],
            py_limited_api=True,
        )
        for name in GRAMMARS
    ]
    + [
        Extension(
            "netsharp_engine._twins",
            sources=[f"{TWINS}/{name}.c" for name in SOURCES],
            depends=[f"{TWINS}/{name}.h" for name in HEADERS],
            extra_compile_args=[]
            if os.name == "nt"
            else ["-std=c11", "-O3", "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math"],
            define_macros=[("Py_LIMITED_API", "0x030B0000"), ("PY_SSIZE_T_CLEAN", None)],
            py_limited_api=True,
            optional=True,
        )
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
