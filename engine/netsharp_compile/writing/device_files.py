"""Everything that is written for a device, by its name: code, weights, tables in two forms, and the
manifest.

Knows no model, and nothing of folders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_compile.writing.c_files import c_files, require_prefix
from netsharp_compile.writing.ending import (
    ANSWERS,
    ending_declared,
    ending_files,
    ending_tested,
    require_answers,
)
from netsharp_compile.writing.loader import loader_files
from netsharp_compile.writing.manifest import manifest_of
from netsharp_compile.writing.packages import packed
from netsharp_compile.writing.products.targets import TARGETS, require_target
from netsharp_compile.writing.quantizer import quantizer_declared, quantizer_files
from netsharp_compile.writing.tables_file import tables_file

if TYPE_CHECKING:
    from netsharp_compile.form import ModelForm
    from netsharp_compile.integers import IntegerNetwork, Integers


class DeviceSettings(NamedTuple):
    """The options of writing: the prefix of names, the kind of answers, the build system (None for
    a plain folder), and the processors.
    """

    prefix: str = "net"
    answers: str = ANSWERS[0]
    package: str | None = None
    target: str = TARGETS[0]


def device_files(
    network: IntegerNetwork,
    settings: DeviceSettings,
    form: ModelForm,
    tested: Integers,
) -> dict[str, bytes]:
    """Return the bytes of each file by its name, with folders before a "/"; ``tested`` are codes
    of rows [rows, features] that the test runs.  Raises CompileError for settings that are none,
    and answers that the network cannot give.
    """
    prefix, answers, package, target = settings
    require_prefix(prefix)
    require_target(target)
    require_answers(answers, network, form.classes)
    declared = [*ending_declared(answers, prefix), *quantizer_declared(prefix)]
    outputs = network.simulate(tested)[-1]
    ending = ending_tested(answers, network, prefix, outputs)
    texts = {
        **c_files(network, prefix, form.classes, tested, outputs, declared, target, ending),
        **ending_files(answers, network, prefix),
        **quantizer_files(network.features, prefix),
        **loader_files(network, prefix),
        f"{prefix}.json": manifest_of(network, form),
    }
    found = {name: text.encode("utf-8") for name, text in texts.items()}
    found[f"{prefix}.tables.bin"] = tables_file(network)
    return packed(found, prefix, package)
