"""A look at the start of a training that an editor asks for: seen at the layers until an edit."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.test_examination import DEEP
from tests.server.places import codes, execute, furnish, opened, shown
from tests.server.wire import serving

# Each takes seconds, or a process of its own.
pytestmark = pytest.mark.costly

RUN_FILE = '[data]\ntrain = "t.csv"\nlabel = "kind"\n[train]\ninit = "uniform"\n'


def test_what_is_seen_stands_at_layers_until_the_next_edit(tmp_path: Path) -> None:
    path = furnish(tmp_path, DEEP, RUN_FILE)
    before = sorted(tmp_path.iterdir())
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        # Opening a folder looks at nothing.
        assert "NS133" not in codes(wire.published(uri))
        answer = execute(wire, "examine", uri)
        assert answer["result"]["seen"] > 0, (answer, shown(wire))
        assert "shown at the layers" in shown(wire)[-1]
        found = wire.published(uri)
        (first,) = [one for one in found if one["code"] == "NS133" and "'First'" in one["message"]]
        assert first["range"]["start"] == {"line": 1, "character": 7}
        wire.send(wire.change(uri, 2, {"text": DEEP.replace("Third", "Last")}))
        assert "NS133" not in codes(wire.published(uri))
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize(
    ("text", "run_file", "sentence"),
    [
        (DEEP, None, "No training data is named"),
        (DEEP.replace("auto;\nhidden", "[7];\nhidden"), RUN_FILE, "takes 7"),
        (DEEP, '[data]\ntrain = "none.csv"\nlabel = "kind"\n', "none.csv"),
    ],
)
def test_why_nothing_is_seen_is_reported(
    tmp_path: Path, text: str, run_file: str | None, sentence: str
) -> None:
    path = furnish(tmp_path, text, run_file)
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        assert execute(wire, "examine", uri)["result"] is None
        assert shown(wire)[-1].startswith("net.nn: ")
        assert sentence in shown(wire)[-1], shown(wire)


def test_nothing_is_looked_at_where_no_one_is_trusted_or_texts_differ(tmp_path: Path) -> None:
    path = furnish(tmp_path, DEEP, RUN_FILE)
    options = {"trusted": False}
    with serving(rootUri=tmp_path.as_uri(), initializationOptions=options) as wire:
        assert execute(wire, "examine", opened(wire, path))["result"] is None
        assert "a workspace that is not trusted" in shown(wire)[-1]
    with serving(rootUri=tmp_path.as_uri()) as wire:
        uri = opened(wire, path)
        wire.send(wire.change(uri, 2, {"text": DEEP + "// more\n"}))
        assert execute(wire, "examine", uri)["result"] is None
        assert "unsaved changes" in shown(wire)[-1]
        assert execute(wire, "examine", (tmp_path / "none.nn").as_uri())["result"] is None
        assert "is not open" in shown(wire)[-1]
