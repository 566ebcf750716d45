"""Everything that is written for a device, by its name: code, weights, tables in two forms, and the
manifest.

Knows no model, and nothing of folders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsharp_compile.writing.c_files import c_files
from netsharp_compile.writing.loader import loader_files
from netsharp_compile.writing.manifest import manifest_of
from netsharp_compile.writing.tables_file import tables_file

if TYPE_CHECKING:
    from netsharp_compile.form import ModelForm
    from netsharp_compile.integers import IntegerNetwork, Integers


def device_files(
    network: IntegerNetwork, prefix: str, form: ModelForm, tested: Integers
) -> dict[str, bytes]:
    """Return the bytes of each file; ``tested`` are codes of rows [rows, features] that the test
    runs.  Raises CompileError for a prefix that C does not take.
    """
    outputs = network.simulate(tested)[-1]
    texts = {
        **c_files(network, prefix, form.classes, tested, outputs),
        **loader_files(network, prefix),
        f"{prefix}.json": manifest_of(network, form),
    }
    found = {name: text.encode("utf-8") for name, text in texts.items()}
    return {**found, f"{prefix}.tables.bin": tables_file(network)}
