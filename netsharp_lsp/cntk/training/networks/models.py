"""Networks with numbers, as they are in files: to and from the engine's stored models."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine import stored
from netsharp_engine.atomic_files import AtomicFile
from netsharp_engine.cntk.stored.binary import ModelFault
from netsharp_engine.cntk.stored.checkpoints import (
    Checkpoint,
    read_checkpoint,
    written_checkpoint,
)
from netsharp_engine.cntk.stored.model_file import not_stored, written_model
from netsharp_engine.cntk.stored.model_tensors import is_tensors, read_tensors, write_tensors
from netsharp_engine.cntk.stored.opening import open_model
from netsharp_engine.cntk.stored.values import StoredModel, StoredNode
from netsharp_engine.memory import shown_bytes
from netsharp_engine.model_file import ModelError, read_file, write_file
from netsharp_engine.plain_files import open_plain
from netsharp_lsp.cntk.networks.stored import network_in
from netsharp_lsp.cntk.training.refusals import RunRefusal
from netsharp_lsp.workspace import outside, outside_to_write

if TYPE_CHECKING:
    from typing import Any

    from netsharp_lsp.cntk.networks.node import Network
    from netsharp_lsp.project.roots import Roots

_STATE = ".ckp"
_POSITION = ".ckp.safetensors"
#: What arrays of a position begin with that are the momentum of a parameter's blocks.
_BLOCKS = "blocks/"


class StoredModelError(Exception):
    """A model that cannot be read or written, as a sentence that names it."""


class Position(NamedTuple):
    """The position of a training, as far as CNTK's checkpoint lacks it: minibatches of all epochs,
    updates of parameters, elapsed time, what determines the rate of the next epoch, and the
    momentum of blocks by parameter, float64.
    """

    steps: int = 0
    updates: int = 0
    seconds: float = 0.0
    control: Sequence[float] = ()
    blocks: Mapping[str, Any] = {}


class RunNamed(NamedTuple):
    """The start of a run: its items, and the folder that it was started in."""

    items: Sequence[str]
    folder: str


class LearntNetwork:
    """A network, its numbers by node name, and their dtype."""

    __slots__ = ("dtype", "network", "values")

    def __init__(self, network: Network, values: Mapping[str, Any], dtype: str) -> None:
        self.network = network
        self.values = values
        self.dtype = dtype


def unstorable(network: Network) -> list[RunRefusal]:
    """Return refusals for the nodes that a model file cannot store."""
    nodes = list(network.nodes.values())
    lacking = set(not_stored([node.operation for node in nodes]))
    return [
        RunRefusal(
            f"'{node.name}' is of type {node.operation}, which no model file stores yet.",
            node.where,
        )
        for node in nodes
        if node.operation in lacking
    ]


class ModelFiles:
    """The only access to files of models, and to what is written beside them: none of them is
    outside the roots, wherever a link at its path leads. `tensors`: models are written as
    safetensors; `run` is recorded beside their checkpoints; `silent`: nothing is written, since
    another process does so.
    """

    __slots__ = ("_roots", "_run", "_silent", "_tensors")

    def __init__(
        self,
        roots: Roots,
        *,
        tensors: bool = False,
        run: RunNamed | None = None,
        silent: bool = False,
    ) -> None:
        self._roots, self._silent = roots, silent
        self._tensors = tensors
        self._run = run

    def readable(self, path: str) -> bool:
        """Return whether a file may be read."""
        return self._roots.holds(path)

    def writable(self, path: str) -> bool:
        """Return whether a file may be written."""
        return self._roots.target(path) is not None

    def save(self, path: str, model: LearntNetwork) -> None:
        """Write a model, completely or not at all."""
        if self._silent:
            return
        if not self._tensors:
            self._write(path, written_model(_stored(model)))
            return
        self.make_folder_of(path)
        try:
            write_tensors(path, _stored(model))
        except ModelError as error:
            raise StoredModelError(str(error)) from None

    def load(self, path: str) -> LearntNetwork:
        """Read a model; StoredModelError where none can be used."""
        data = self._read(path)
        try:
            return _learnt(read_tensors(data) if is_tensors(data) else open_model(data), path)
        except ModelFault as fault:
            raise StoredModelError(f"{path}, {fault}.") from None

    def require_room(self, path: str, model: LearntNetwork, learnt: Iterable[str]) -> None:
        """Raise StoredModelError if a model and its state could not both be written now."""
        if self._silent:
            return
        state = sum(model.values[name].nbytes for name in learnt)
        with ExitStack() as stack:
            for name, size in ((path, len(written_model(_stored(model)))), (path + _STATE, state)):
                self._demand_writable(name)
                try:
                    aside = stack.enter_context(AtomicFile(name))
                    if size and hasattr(os, "posix_fallocate"):
                        os.posix_fallocate(aside.stream.fileno(), 0, size)
                except OSError as error:
                    raise StoredModelError(
                        f"{name}: cannot be written: {error.strerror}. {shown_bytes(size)} are "
                        "needed there; nothing is trained."
                    ) from None

    def save_state(self, path: str, state: Checkpoint, position: Position) -> None:
        """Write the state to resume from beside a model."""
        if self._silent:
            return
        # Between both, the former state counts, and with it all that has to be known of it.
        data = written_checkpoint(state)
        self._save_position(path + _POSITION, position, _digest(data))
        self._write(path + _STATE, data)

    def load_state(self, path: str, parameters: int) -> Checkpoint | None:
        """Read the state beside a model; None where there is none."""
        if not os.path.exists(path + _STATE):
            return None
        try:
            return read_checkpoint(self._read(path + _STATE), parameters)
        except ModelFault as fault:
            raise StoredModelError(f"{path}{_STATE}, {fault}.") from None

    def load_position(self, path: str) -> Position | None:
        """Read the position of the training; None without a file of it that belongs to the
        state.
        """
        if not os.path.exists(path + _POSITION):
            return None
        if not self.readable(path + _POSITION):
            raise StoredModelError(outside(path + _POSITION))
        try:
            values, tensors = read_file(path + _POSITION)
            if values.get("of") != _digest(self._read(path + _STATE)):
                return None
            return Position(
                stored.whole(values, "steps"),
                stored.whole(values, "updates"),
                stored.number(values, "seconds"),
                [
                    stored.as_number(one, "control", finite=False)
                    for one in stored.items(values, "control")
                ],
                {
                    name.removeprefix(_BLOCKS): found
                    for name, found in tensors.items()
                    if name.startswith(_BLOCKS)
                },
            )
        except ValueError as error:
            # Some faults begin with the path, and some end without a full stop.
            reason = str(error).removeprefix(f"{path}{_POSITION} ").removesuffix(".")
            raise StoredModelError(f"{path}{_POSITION}: {reason}. Remove it to continue.") from None

    def run_of(self, path: str) -> RunNamed | None:
        """Read which run trained a model, its folder relative to the model's; None where nothing
        beside the checkpoint records it.
        """
        name = path + _POSITION
        if not os.path.exists(name) or not self.readable(name):
            return None
        try:
            values, _ = read_file(name)
            named = stored.optional(values, "run", stored.table)
            if named is None or values.get("of") != _digest(self._read(path + _STATE)):
                return None
            items = [stored.as_text(one, "item") for one in stored.items(named, "items")]
            return RunNamed(items, stored.text(named, "folder"))
        except (ValueError, StoredModelError):
            return None

    def remove(self, path: str) -> None:
        """Remove a model and its state."""
        if not self._silent:
            _remove(path)
            self.remove_state(path)

    def remove_state(self, path: str) -> None:
        """Remove the state of a model."""
        if not self._silent:
            _remove(path + _STATE)
            _remove(path + _POSITION)

    def write_text(self, path: str, parts: Iterable[str]) -> None:
        """Write a text, completely or not at all."""
        if not self._silent:
            self._write(path, "".join(parts).encode())

    def _read(self, path: str) -> bytes:
        if not self.readable(path):
            raise StoredModelError(outside(path))
        try:
            with open_plain(path) as stream:
                return stream.read()
        except OSError as error:
            raise StoredModelError(f"{path}: cannot be read: {error.strerror}.") from None

    def _save_position(self, path: str, position: Position, of: str) -> None:
        self._demand_writable(path)
        texts = position._asdict()
        tensors = {f"{_BLOCKS}{name}": found for name, found in texts.pop("blocks").items()}
        try:
            write_file(path, {**texts, "of": of, **self._named(path)}, tensors)
        except ModelError as error:
            raise StoredModelError(str(error)) from None

    def _named(self, path: str) -> dict[str, Any]:
        """Return the run for a file beside a model; its folder is relative to the model's, so that
        both may be moved.
        """
        if self._run is None:
            return {}
        folder = os.path.relpath(self._run.folder, os.path.dirname(os.path.abspath(path)))
        return {"run": {"items": list(self._run.items), "folder": folder.replace(os.sep, "/")}}

    def _demand_writable(self, path: str) -> None:
        if not self.writable(path):
            raise StoredModelError(not_written(path))

    def make_folder_of(self, path: str) -> None:
        """Make the folder of a file that may be written."""
        self._demand_writable(path)
        if self._silent:
            return
        try:
            os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        except OSError as error:
            raise StoredModelError(f"{path}: cannot be written: {error.strerror}.") from None

    def _write(self, path: str, data: bytes) -> None:
        self.make_folder_of(path)
        try:
            with AtomicFile(path) as aside:
                aside.stream.write(data)
                aside.commit()
        except OSError as error:
            raise StoredModelError(f"{path}: cannot be written: {error.strerror}.") from None


def not_written(path: str) -> str:
    """Return the message about a path outside the roots; the folder to allow is one that exists."""
    place = os.path.normpath(path)
    folder = os.path.dirname(os.path.realpath(place))
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    return outside_to_write(place, folder)


def remade(
    model: LearntNetwork, change: Callable[[list[StoredNode]], list[StoredNode]], path: str
) -> LearntNetwork:
    """Return another model, whose nodes are changed ones of this."""
    found = _stored(model)
    return _learnt(found._replace(nodes=change(list(found.nodes))), path)


def _remove(path: str) -> None:
    try:
        os.remove(path)  # of a link the link
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoredModelError(f"{path}: cannot be removed: {error.strerror}.") from None


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _stored(model: LearntNetwork) -> StoredModel:
    """Return a model as the engine stores it."""
    nodes = [
        StoredNode(
            node.operation,
            node.name,
            node.shape or (),
            tuple(one.name for one in node.inputs),
            node.attributes,
            model.values.get(node.name),
            model.dtype,
        )
        for node in model.network.nodes.values()
    ]
    groups = {name: [one.name for one in found] for name, found in model.network.groups.items()}
    return StoredModel(nodes, groups, model.dtype)


def _learnt(found: StoredModel, path: str) -> LearntNetwork:
    """Return the network of a file."""
    values = found.numbers()
    return LearntNetwork(network_in(found, path), values, found.dtype)
