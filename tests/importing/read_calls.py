"""What is read of the one call of a script."""

from __future__ import annotations

import tomllib

from netsharp_lsp.cli.inputs.files import Input
from netsharp_lsp.cli.inputs.scripts import ReadScript, read_script
from netsharp_lsp.importing.run_files import run_file_text
from netsharp_lsp.importing.translation import ImportedCall


def call_of(name: str, text: str) -> ImportedCall:
    """The one call of a script."""
    script = read_script(Input(name, None), text.encode())
    assert isinstance(script, ReadScript), script
    assert not script.broken
    (call,) = script.calls
    return call


def epochs_of(name: str, text: str) -> int | None:
    """The iterations of the call; None where they are listed, and nowhere written."""
    call = call_of(name, text)
    found = tomllib.loads(run_file_text(call, name, str))["train"].get("epochs")
    lost = [one for one in call.left if one.argument == "numIterations"]
    assert (found is None) == bool(lost)
    assert all(one.why.endswith("is known only at run time") for one in lost)
    assert found is None or isinstance(found, int)
    return found
