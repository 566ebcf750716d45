"""The context of a text: sizes of its data, its task and host, and the files that belong to it;
knows no disk.

The command line, the run file and the settings each know a part; the first that does wins.
"""

from __future__ import annotations

from netsharp_lsp.text.numbers import BEYOND

TASKS = ("binary", "multiclass", "regression")
HOSTS = ("studio", "rx", "tlc")
TARGET_KEYS = ("flash", "ram", "processor")
A_SIZE = "a number of bytes, or a text such as '256k', '1M' or '32KiB' (1k is 1,024), is expected."
_SIZE = r"([0-9]{1,12}) ?(?:([kKmM])(?:i?[bB])?)?"
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}
FIELDS = ("features", "hidden_nodes", "outputs", "task", "host")


TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from netsharp_lsp.workspace import Workspace

    Seen = tuple[str, str, tuple[float, ...]]


def is_count(value: object) -> bool:
    """Return whether a value can be a number of columns or nodes."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < BEYOND


class DeviceTarget:
    """The memory of a device in bytes of flash and RAM, and its processor; None where not given."""

    __slots__ = ("flash", "processor", "ram")

    def __init__(
        self, flash: int | None = None, ram: int | None = None, processor: str | None = None
    ) -> None:
        self.flash = flash
        self.ram = ram
        self.processor = processor

    def key(self) -> tuple[int | None, int | None, str | None]:
        """Return all of it."""
        return self.flash, self.ram, self.processor

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceTarget) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


def read_target(value: object) -> DeviceTarget:
    """Return the device that a table of settings names; ValueError, a sentence without the key."""
    from netsharp_engine.devices.footprint import CODE_BYTES

    if not isinstance(value, dict):
        raise ValueError(f"must be a table of {', '.join(TARGET_KEYS)}, found {value!r}.")
    found: Mapping[str, object] = value
    for key in found:
        if key not in TARGET_KEYS:
            raise ValueError(f"has no key '{key}'; it has {', '.join(TARGET_KEYS)}.")
    flash, ram = (_size(key, found[key]) if key in found else None for key in TARGET_KEYS[:2])
    processor = found.get("processor")
    if processor is not None and processor not in CODE_BYTES:
        raise ValueError(
            f"has the processor {processor!r}, which is none of {', '.join(CODE_BYTES)}."
        )
    return DeviceTarget(flash, ram, None if processor is None else str(processor))


def read_size(value: object) -> int | None:
    """Return a number of bytes, as settings and flags write it; None for other text."""
    import re

    match = re.fullmatch(_SIZE, str(value)) if type(value) in (int, str) else None
    return int(match[1]) * _UNITS[(match[2] or "").lower()] or None if match is not None else None


def _size(key: str, value: object) -> int:
    found = read_size(value)
    if found is None:
        raise ValueError(f"has {value!r} for {key}: {A_SIZE}")
    return found


class Context:
    """The facts that turn `auto` into numbers and choose a host's defaults; None where unknown.

    `features`: columns of data after encoding. `hidden_nodes`: nodes of a hidden `auto` layer.
    `outputs`: nodes the task needs. `task`: one of `TASKS`. `host`: one of `HOSTS`.
    `origin` names for each known field where it comes from ("--features", "digits.toml").
    `workspace`: the files around the text, for languages whose texts belong together.
    `outside`: what is named to train on and not read, since it lies outside of what may be.
    `target`: the device that the network is for, `DeviceTarget` of settings.
    `seen`: observations of the start of a training, on request, each a kind of
    observation, a layer, and figures.
    """

    __slots__ = (
        "features",
        "hidden_nodes",
        "host",
        "origin",
        "outputs",
        "outside",
        "seen",
        "target",
        "task",
        "workspace",
    )

    def __init__(
        self,
        features: int | None = None,
        hidden_nodes: int | None = None,
        outputs: int | None = None,
        task: str | None = None,
        host: str | None = None,
        origin: dict[str, str] | None = None,
        workspace: Workspace | None = None,
    ) -> None:
        self.features = features
        self.hidden_nodes = hidden_nodes
        self.outputs = outputs
        self.task = task
        self.host = host
        self.origin: dict[str, str] = origin if origin is not None else {}
        self.workspace = workspace
        self.outside: str | None = None
        self.seen: tuple[Seen, ...] = ()
        self.target: DeviceTarget | None = None

    def known(self) -> dict[str, int | str]:
        """Return the fields that are not None."""
        values = ((field, getattr(self, field)) for field in FIELDS)
        return {field: value for field, value in values if value is not None}

    def or_else(self, other: Context) -> Context:
        """Return a context with this one's fields, and the other's where this one has none."""
        merged = Context(
            origin={**other.origin, **self.origin}, workspace=self.workspace or other.workspace
        )
        for field in FIELDS:
            own = getattr(self, field)
            setattr(merged, field, own if own is not None else getattr(other, field))
        merged.outside = self.outside or other.outside
        merged.seen = self.seen or other.seen
        merged.target = self.target or other.target
        return merged

    def following(self) -> Context:
        """Return the same for another specification of a file whose outside files are reported."""
        context = self.or_else(Context())
        context.outside = None
        return context

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Context)
            and self.known() == other.known()
            and self.outside == other.outside
            and self.seen == other.seen
            and self.target == other.target
            and self.workspace is other.workspace
        )

    def __hash__(self) -> int:
        return hash(tuple(self.known().items()))

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in self.known().items())
        return f"Context({fields})"
