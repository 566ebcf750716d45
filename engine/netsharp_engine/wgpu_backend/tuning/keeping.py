"""What was measured of a device, in the user's folder: its speed, and variants by network.

A file for each; one that is damaged, or of another device or version, is as good as none.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any, NamedTuple

from netsharp_engine import stored
from netsharp_engine.data.storage.json_files import SUFFIX, path_of_key, read_values, write_values
from netsharp_engine.data.storage.places import users_folder

#: Another number here makes what was kept before be measured again.
VERSION = 1
FOLDER = "graphics"
#: The number of files that are kept, the newest.
MOST_KEPT = 64


class DeviceIdentity(NamedTuple):
    """What measurements depend on: an adapter's name, what drives it, versions of the packages."""

    adapter: str
    driver: str
    netsharp: str
    wgpu: str

    @classmethod
    def here(cls, adapter: str, driver: str) -> DeviceIdentity:
        """Return the identity of a device with the packages that are installed."""
        return cls(adapter, driver, _version("netsharp"), _version("wgpu"))


class DeviceSpeed(NamedTuple):
    """Multiply-adds and bytes a second of a device, and the seconds that a pass takes empty."""

    multiply_adds: float
    seconds_a_pass: float
    bytes_up: float
    bytes_down: float


def kept_speed(device: DeviceIdentity, folder: str | None = None) -> DeviceSpeed | None:
    """Return the speed that was measured of a device; None where none is kept."""
    found = _read(device, "speed", "", folder)
    try:
        return None if found is None else _speed(found)
    except (ValueError, TypeError):
        return None


def keep_speed(device: DeviceIdentity, speed: DeviceSpeed, folder: str | None = None) -> None:
    """Keep the speed of a device; where nothing can be kept it is measured the next time."""
    _write(device, "speed", "", speed._asdict(), folder)


def kept_variants(
    device: DeviceIdentity, network: str, folder: str | None = None
) -> dict[str, str] | None:
    """Return the variants by kernel that were chosen for a network; None where none are kept."""
    found = _read(device, "variants", network, folder)
    return None if found is None else _texts(found)


def keep_variants(
    device: DeviceIdentity, network: str, variants: Mapping[str, str], folder: str | None = None
) -> None:
    """Keep the variants of a network."""
    _write(device, "variants", network, dict(variants), folder)


def latest_variants(
    network: str, wanted: str = "", folder: str | None = None
) -> tuple[DeviceIdentity, dict[str, str]] | None:
    """Return the latest choice for a network on a device whose name contains ``wanted``.

    No device has to be here; None where nothing is kept.
    """
    for path in _listed(_folder(folder)):
        values = _values(path)
        with suppress(ValueError, TypeError):
            if values is None or (values["kind"], values["network"]) != ("variants", network):
                continue
            device = DeviceIdentity(
                **{k: str(v) for k, v in stored.table(values, "device").items()}
            )
            found = _texts(stored.table(values, "values"))
            if wanted.lower() in device.adapter.lower() and found is not None:
                return device, found
    return None


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _speed(values: Mapping[str, Any]) -> DeviceSpeed:
    found = DeviceSpeed(**{name: stored.number(values, name) for name in DeviceSpeed._fields})
    if found.multiply_adds <= 0 or min(found) < 0:
        raise ValueError("a device that does nothing")
    return found


def _texts(values: Mapping[str, Any]) -> dict[str, str] | None:
    """Return a table of texts; None where it is another."""
    return dict(values) if all(isinstance(each, str) for each in values.values()) else None


def _folder(folder: str | None) -> str:
    """Return the folder, the user's own by default; empty where that is unknown."""
    if folder is not None:
        return folder
    try:
        return users_folder(FOLDER)
    except ImportError:  # a copy of the engine without its other packages
        return ""


def _path(device: DeviceIdentity, kind: str, network: str, folder: str | None) -> str | None:
    """Return the path of a file; None for a relative folder."""
    return path_of_key(_folder(folder), [*device, kind, network])


def _read(
    device: DeviceIdentity, kind: str, network: str, folder: str | None
) -> Mapping[str, Any] | None:
    path = _path(device, kind, network, folder)
    values = None if path is None else _values(path)
    try:
        if values is None or stored.table(values, "device") != device._asdict():
            return None
        if (values["kind"], values["network"]) != (kind, network):
            return None
        return stored.table(values, "values")
    except ValueError:
        return None


def _values(path: str) -> dict[str, Any] | None:
    """Return the values in a file; None where it is not ours, or of another version."""
    values = read_values(path, VERSION)
    try:
        if values is not None:
            stored.text(values, "kind")
            stored.text(values, "network")
        return values
    except ValueError:
        return None


def _write(
    device: DeviceIdentity,
    kind: str,
    network: str,
    values: Mapping[str, Any],
    folder: str | None,
) -> None:
    path = _path(device, kind, network, folder)
    if path is None:
        return
    facts = {"device": device._asdict(), "kind": kind, "network": network, "values": dict(values)}
    write_values(path, VERSION, facts)
    with suppress(OSError):  # no right to remove
        for old in list(_listed(os.path.dirname(path)))[MOST_KEPT:]:
            os.unlink(old)


def _listed(folder: str) -> Iterator[str]:
    """Yield the files of a folder, the newest first; none in what a link leads to."""
    found = []
    if os.path.isabs(folder) and not os.path.islink(folder):
        with suppress(OSError):
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if name.endswith(SUFFIX) and os.path.isfile(path) and not os.path.islink(path):
                    found.append((os.stat(path).st_mtime_ns, path))
    yield from (path for _, path in sorted(found, reverse=True))
