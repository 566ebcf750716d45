"""A folder of old experiments, as a user finds it on a disk: configurations, networks, edits and
data of readers. It knows where the data come from and nothing of what the configurations say.
"""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

from tests.cntk.training.experiments import made
from tests.cntk.training.test_columns import in_columns
from tests.cntk.training.test_image_runs import drawn
from tests.cntk.training.test_sentence_runs import SENTENCES, TAGGED_WORDS, language, tagging

FOLDER = Path(__file__).parent / "old"


def unpacked(folder: Path) -> Path:
    """The folder with its data, which are drawn from the seed."""
    shutil.copytree(FOLDER, folder)
    data = folder / "Data"
    data.mkdir()
    made(data / "points")
    made(data / "more", rows=40)
    (data / "more" / "data.ctf").rename(data / "points" / "held_out.ctf")
    in_columns(data / "columns")
    language(data / "words", SENTENCES, beside=1, block=1)
    tagging(data / "tags", TAGGED_WORDS, beside=1, equal="true")
    drawn(data / "pictures")
    for path in data.glob("*/net.cntk"):
        path.unlink()
    shutil.rmtree(data / "more")
    return folder


def starts() -> list[tuple[str, ...]]:
    """The arguments of each start in the script of the folder, in order."""
    lines = (FOLDER / "run_all.sh").read_text().splitlines()
    return [tuple(shlex.split(line)[1:]) for line in lines if line.startswith("cntk ")]


def configurations(start: tuple[str, ...]) -> str:
    """The configurations of a start as its script names them."""
    return next(one for one in start if one.startswith("configFile=")).partition("=")[2]


def listing(folder: Path) -> dict[str, bytes]:
    """All files below a folder by their paths, with what is in them."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}
