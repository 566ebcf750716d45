"""Builds one C extension per grammar; everything else is in pyproject.toml."""

import os

from setuptools import Extension, setup

GRAMMARS = ("netsharp", "brainscript", "cntk")

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
    ],
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
