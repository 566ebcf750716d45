"""Compiled networks on emulated Cortex-M3 and M4F beside emlearn's: instructions and images.

Knows how both are built and run, and no bound.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from compiled_networks import EXAMPLES, Trained

sys.path.insert(0, str(EXAMPLES / "boards"))

import boards

#: Boards by the option that selects their processor, and the flags of a unit for floating point.
CHIPS = {
    "Cortex-M3": ("cortex-m3", ()),
    "Cortex-M4F": ("cortex-m4", ("-mfloat-abi=hard", "-mfpu=fpv4-sp-d16")),
}
#: A unit for floating point is switched on before any function that may use it.
_MAIN = """\
int main(void)
{
#ifdef __ARM_FP
    *(volatile uint32_t *)0xE000ED88u |= 0xFu << 20;
#endif
    int (*volatile called)(void) = measured;
    return called();
}
"""
_OURS = """\
#include "board.h"
#include "net.h"
static net_in_t x[NET_IN];
static net_out_t y[NET_OUT];
static uint8_t scratch[NET_SCRATCH];
static int measured(void)
{
    for (int i = 0; i < NET_IN; i++)
        x[i] = (net_in_t)(i * 37 % 100);
    const uint32_t before = board_instructions();
    net_run(x, y, scratch);
    const uint32_t spent = board_instructions() - before;
    board_say("spent ");
    board_say_number(spent);
    board_say("\\n");
    return net_argmax(y) < 0;
}
MAIN"""
_THEIRS = """\
#include "board.h"
#include "eml_net.h"
#include "peer.h"
static float x[COUNT];
static int measured(void)
{
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)(i * 37 % 100) * 0.01f;
    const uint32_t before = board_instructions();
    const int chosen = peer_predict(x, COUNT);
    const uint32_t spent = board_instructions() - before;
    board_say("spent ");
    board_say_number(spent);
    board_say("\\n");
    return chosen < 0;
}
MAIN"""


class OnBoard(NamedTuple):
    """Instructions of a run, and the bytes of the image in flash."""

    instructions: int
    image: int


def require_tools() -> None:
    """Raise OSError where a cross compiler or an emulator is missing."""
    for name, _ in CHIPS.values():
        if lacking := boards.missing(boards.BOARDS[name]):
            raise OSError(f"no {' and no '.join(lacking)} ('make embedded')")


def ours(found: Trained, chip: str, target: Any, folder: Path) -> OnBoard:
    """Build for a chip what is compiled for a target, and run it."""
    folder.mkdir(parents=True)
    found.compiled().write(folder / "net", target=target)
    (folder / "main.c").write_text(_OURS.replace("MAIN", _MAIN))
    sources = [folder / "net" / f"net{part}.c" for part in ("", "_weights", "_tables")]
    return _on_board(chip, [*sources, folder / "main.c"], folder, f"-I{folder / 'net'}")


def emlearns(found: Trained, chip: str, folder: Path) -> OnBoard:
    """Build for a chip what emlearn makes of the same weights, with newlib, and run it."""
    import emlearn

    folder.mkdir(parents=True)
    # It leaves a folder `tmp` where it is called.
    with warnings.catch_warnings(), contextlib.chdir(folder):
        warnings.simplefilter("ignore")
        made = emlearn.convert(_of_sklearn(found), method="inline")
        made.save(file=str(folder / "peer.h"), name="peer")
    (folder / "main.c").write_text(
        _THEIRS.replace("MAIN", _MAIN).replace("COUNT", str(found.held.shape[1]))
    )
    include = f"-I{Path(emlearn.__file__).parent}"
    return _on_board(chip, [folder / "main.c"], folder, include, library=("-lm", "-lc"))


def _of_sklearn(found: Trained) -> Any:
    """A network of scikit-learn with the weights of ours."""
    from sklearn.neural_network import MLPClassifier

    tensors = found.model.tensors
    weights = [value.T for key, value in tensors.items() if key.endswith("/weights")]
    biases = [value for key, value in tensors.items() if key.endswith("/biases")]
    sizes = tuple(len(one) for one in biases[:-1])
    peer = MLPClassifier(sizes, activation="tanh", max_iter=1).fit(found.learned[:200], _digits())
    peer.coefs_ = [np.asarray(one, np.float64) for one in weights]
    peer.intercepts_ = [np.asarray(one, np.float64) for one in biases]
    return peer


def _digits() -> np.ndarray:
    return np.arange(200) % 10


def _on_board(
    chip: str, sources: list[Path], folder: Path, *flags: str, library: tuple[str, ...] = ()
) -> OnBoard:
    name, unit = CHIPS[chip]
    board = boards.BOARDS[name]
    common = (*board.processor, *unit, *boards.ALONE[1:], "-std=gnu99", "-DBOARD_SILENT")
    file, *further = board.start
    here = Path(boards.HERE)
    objects = []
    alone = () if library else boards.ALONE[:1]
    start = [(here / one, ("-Os", *boards.ALONE[:1], *further)) for one in (file, "board.c")]
    for source, how in [*((one, ("-O2", *alone)) for one in sources), *start]:
        made = folder / f"{source.stem}.o"
        command = [board.compiler, *common, *how, *flags, f"-I{here}", "-c", source, "-o", made]
        _call(command)
        objects.append(made)
    script = ("-nostdlib", "-static", "-Wl,--gc-sections", f"-L{here}")
    script += ("-T", str(here / f"{board.memory}.ld"))
    image = folder / "image.elf"
    _call([board.compiler, *common, *objects, *script, *library, "-lgcc", "-o", image])
    _, said = boards.run(board, image)
    spent = re.search(r"spent (\d+)", said)
    if spent is None:
        raise RuntimeError(f"{chip} did not end well: {said}")
    sizes = subprocess.check_output([f"{board.tools}-size", image], text=True).splitlines()[1]
    text, data, *_ = map(int, sizes.split()[:3])
    return OnBoard(int(spent[1]), text + data)


def code_size(found: Trained, target: Any, folder: Path) -> int:
    """Bytes of code, constants and tables alone, as for a Cortex-M4 without start and test."""
    folder.mkdir(parents=True)
    found.compiled().write(folder / "net", target=target)
    board, total = boards.BOARDS["cortex-m4"], 0
    for part in ("", "_weights", "_tables"):
        made = folder / f"net{part}.o"
        command = [board.compiler, *board.processor, "-O2", *boards.ALONE, "-c"]
        _call([*command, folder / "net" / f"net{part}.c", "-o", made])
        sizes = subprocess.check_output([f"{board.tools}-size", made], text=True).splitlines()[1]
        total += sum(map(int, sizes.split()[:2]))
    return total


def _call(command: list[Any]) -> None:
    words = [str(one) for one in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)}\n{done.stderr}")
