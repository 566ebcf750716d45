"""The memory of a device, from flags and from the settings around a model."""

from __future__ import annotations

import argparse
import os

from netsharp_compile.evaluating.room import DeviceRoom
from netsharp_engine.devices.footprint import CODE_BYTES
from netsharp_lsp.cli.console.terminal import complain
from netsharp_lsp.context import A_SIZE, DeviceTarget, read_size
from netsharp_lsp.project.roots import roots_around
from netsharp_lsp.settings import SettingsFinder


def add_room_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags for the memory and processor of a device."""
    group = parser.add_argument_group("the device (default: [target] in netsharp.toml)")
    add = group.add_argument
    add("--flash", type=_size, metavar="SIZE", help="its flash, for example 256k")
    add("--ram", type=_size, metavar="SIZE", help="its memory, for example 32k")
    add(
        "--processor",
        choices=tuple(CODE_BYTES),
        help="its processor, for the estimate of the code's size",
    )


def device_room(args: argparse.Namespace) -> DeviceRoom | None:
    """Return the memory of the device from the flags, else from the settings of the model's folder,
    else from those of the run file's; None where none gives it.

    Raises SettingsError.
    """
    target = DeviceTarget()
    for path in (args.model, args.run_file):
        if path is not None and target == DeviceTarget():
            target = _target_around(path)
    flash, ram, processor = (
        getattr(target, name) if given is None else given
        for name, given in (("flash", args.flash), ("ram", args.ram), ("processor", args.processor))
    )
    if flash is None and ram is None:
        return None
    return DeviceRoom(flash, ram, processor, args.answers == "softmax")


def _target_around(path: str) -> DeviceTarget:
    finder = SettingsFinder(roots_around([path]).leads_out, complain)
    settings = finder.find(os.path.dirname(os.path.abspath(path)))
    return settings.context.target or DeviceTarget()


def _size(text: str) -> int:
    found = read_size(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"'{text}': {A_SIZE.rstrip('.')}")
    return found
