"""The text of a module around a network's statements: imports, the class, the loading of numbers.

It knows text alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netsharp_engine.exporting.torch.naming import section_of, shown
from netsharp_engine.exporting.torch.source import Bracketed, ProgramLine, in_sections, items, lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netsharp_engine.exporting.torch.writing import TorchLayer, TorchWriting


_LEADS = ((), ("batch",), ("steps", "batch"))


class Port(NamedTuple):
    """An input or an output: its name in Python and in the network, the axes before those of a
    sample, and those; ``turned`` where sequences are the first of them.
    """

    name: str
    origin: str
    lead: int
    shape: tuple[int, ...]
    turned: bool = False

    @property
    def described(self) -> str:
        """Return its name and its sizes."""
        leading = _LEADS[self.lead][::-1] if self.turned else _LEADS[self.lead]
        return f"{self.name} [{', '.join([*leading, *map(str, self.shape)])}]"


class ModuleText(NamedTuple):
    """The parts of a module's text; ``before`` and ``after`` are lines around its class."""

    out: TorchWriting
    inputs: Sequence[Port]
    outputs: Sequence[Port]
    about: str
    before: Sequence[str]
    after: Sequence[str]


#: Digits of a digest that a text has; their placeholder until the numbers are known.
DIGITS = 12
_DIGEST_LINE = f'\nEXPORTED = "{"0" * DIGITS}"\n'
_LOADING = '''

DTYPES = {"F32": torch.float32, "F64": torch.float64, "I64": torch.int64}
# The beginning of the SHA-256 of the numbers that were exported with this text.
EXPORTED = "000000000000"


def load(path: str | Path | None = None) -> Network:
    """Return the network with the numbers of a safetensors file, ready to answer.

    Without a path it is the file of the same name beside this one.
    """
    file = Path(__file__).with_suffix(".safetensors") if path is None else Path(path)
    unfinished = file.with_suffix(f".{EXPORTED}.safetensors")
    if path is None and unfinished.exists():
        # The export was stopped before the numbers had their name.
        file = unfinished
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    header = json.loads(data[8:start])
    header.pop("__metadata__", None)
    state: dict[str, Tensor] = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        values = bytearray(data[start + begin : start + end])
        tensor = torch.frombuffer(values, dtype=DTYPES[entry["dtype"]])
        state[name] = tensor.reshape(entry["shape"])
    network = Network()
    network.load_state_dict(state, assign=True)
    return network.eval()
'''


def with_digest(text: str, digest: str) -> str:
    """Return a module's text with the beginning of the SHA-256 of its numbers in its place."""
    return text.replace(_DIGEST_LINE, f'\nEXPORTED = "{digest}"\n', 1)


def module_text(module: ModuleText) -> str:
    """Return the text, laid out as formatters leave it."""
    module.out.prune([one.name for one in module.outputs])
    text = in_sections(module.out.body, 2)
    functional = any(" F." in line or "(F." in line for line in text)
    found = [
        f'"""A network that netsharp exported{_from(module.about)}.',
        "",
        "    network = load()  # the numbers of the safetensors file beside this one",
        f"    {', '.join(one.name for one in module.outputs)} = "
        f"network({', '.join(one.name for one in module.inputs)})",
        "",
        *_described("Inputs", module.inputs),
        *_described("Outputs", module.outputs),
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "import json",
        *(["from collections.abc import Sequence"] if module.before else []),
        "from pathlib import Path",
        "",
        "import torch",
        "from torch import Tensor, nn",
        *(["from torch.nn import functional as F"] if functional else []),
        *module.before,
        "",
        "",
        "class Network(nn.Module):",
        '    """The layers of the network by its own names, and what it computes."""',
        "",
        "    def __init__(self) -> None:",
        "        super().__init__()",
        *_layers(module.out.layers),
        "",
        *_signature(module),
        *text,
        *_returned(module.outputs),
    ]
    return "\n".join(found) + "\n" + _LOADING + "".join(f"{line}\n" for line in module.after)


def _from(about: str) -> str:
    return f" from {shown(about)}" if about else ""


def _described(title: str, ports: Sequence[Port]) -> list[str]:
    found = [f"{title}:"]
    for one in ports:
        origin = shown(one.origin)
        known = "" if origin == one.name else f", in the network {origin}"
        found.append(f"    {one.described}{known}")
    return found


def _layers(layers: Sequence[TorchLayer]) -> list[str]:
    made = [
        ProgramLine(2, f"self.{one.attribute} = ", one.made, "", shown(section_of(one.origin)))
        for one in layers
    ]
    return in_sections(made, 2)


def _signature(module: ModuleText) -> list[str]:
    given = [f"{one.name}: Tensor" for one in module.inputs]
    made = "Tensor"
    if len(module.outputs) > 1:
        made = f"tuple[{', '.join(['Tensor'] * len(module.outputs))}]"
    head = Bracketed("def forward(", ("self", *given))
    return lines(ProgramLine(1, "", head, f" -> {made}:"))


def _returned(outputs: Sequence[Port]) -> list[str]:
    if len(outputs) == 1:
        return lines(ProgramLine(2, "return ", outputs[0].name))
    names = [one.name for one in outputs]
    plain = f"        return {', '.join(names)}"
    # 88 columns: the line length of black and of ruff's formatter by default.
    return [plain] if len(plain) <= 88 else lines(ProgramLine(2, "return ", items(names)))
