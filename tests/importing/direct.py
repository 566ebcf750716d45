"""The law of scripts: a call that is imported and then run trains what running it directly does."""

from __future__ import annotations

from pathlib import Path

from safetensors import safe_open

from netsharp_lsp.__main__ import main
from netsharp_lsp.cli.inputs.files import named_input, read_source
from netsharp_lsp.cli.inputs.scripts import read_script
from netsharp_lsp.outcome import ReadError


def numbers_of(model: Path) -> dict[str, bytes]:
    """Return the bits of every array of a model file, by its name."""
    with safe_open(str(model), "np") as stream:
        return {name: stream.get_tensor(name).tobytes() for name in stream.keys()}  # noqa: SIM118


def imported_name(argument: str) -> str:
    """Return the name that `import` gives to the call which an argument of `run` means."""
    from netsharp_lsp.cli.specifications.trainees import trainee_in

    item = named_input(argument)
    source = read_source(item)
    assert source is not None
    assert not isinstance(source, ReadError)
    meant = trainee_in(item, source.text)
    script = read_script(item, source.text)
    assert not isinstance(meant, str), meant
    assert not isinstance(script, str), script
    assert meant.call is not None
    lines = [call.line for call in script.calls]
    return script.names[lines.index(meant.call.line)]


def assert_import_then_run_is_the_call(folder: Path, argument: str, *flags: str) -> None:
    """Run a call both ways in the current folder, and compare the bits of both models."""
    shared = (*flags, "--quiet")
    assert main(["run", argument, *shared, "--model", "direct.safetensors"]) == 0
    name, script = imported_name(argument), folder / argument.partition("::")[0]
    assert main(["import", str(script), "--force"]) in (0, 1)
    again = folder / "again.safetensors"
    assert main(["run", str(script.parent / f"{name}.nn"), *shared, "--model", str(again)]) == 0
    direct = numbers_of(folder / "direct.safetensors")
    assert direct
    assert numbers_of(again) == direct
