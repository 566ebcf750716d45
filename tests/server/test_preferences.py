"""What an editor sends as settings: every key is read or complained of, and the nearest wins."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from netsharp_lsp.server.surroundings.preferences import SWITCHES, Preferences, read_preferences
from netsharp_lsp.settings import Settings, known_keys, read_settings

#: A value for each key of the checker that differs from the default.
VALUES: dict[str, Any] = {
    "select": ["NS0"],
    "ignore": ["NS001"],
    "per-file-ignores": {"a.nn": ["NS002"]},
    "exclude": ["old"],
    "fail-on": "error",
    "baseline": "known.json",
    "line-ending": "crlf",
    "host": "tlc",
    "task": "regression",
    "features": 3,
    "hidden-nodes": 4,
    "outputs": 5,
    "target": {"flash": "256k"},
    "cntk": {"defines": ["DataDir"]},
}


def read(values: object) -> Preferences:
    preferences, problems = read_preferences(values, "/work")
    assert problems == []
    return preferences


def test_every_key_of_the_checker_is_read() -> None:
    assert set(VALUES) == set(known_keys())
    assert read({"check": VALUES}).given == set(known_keys())


@pytest.mark.parametrize("key", sorted(SWITCHES))
def test_every_switch_is_read_nested_and_with_dots(key: str) -> None:
    group, _, name = key.partition(".")
    for value in (True, False):
        assert read({group: {name: value}}).switches[key] is value
        assert read({key: value}).switches[key] is value
    assert read({}).switches == SWITCHES


def test_what_editors_send_along_says_nothing() -> None:
    silent = {"check": dict.fromkeys(VALUES) | {"select": [], "per-file-ignores": {}}}
    own = {"server": {"path": "/x"}, "python": "python3", "embedded.enable": False}
    assert read({**silent, **own, "inlayHints": {}}).given == frozenset()
    for nothing in (None, [], "text", 3):
        assert (read(nothing).given, read(nothing).switches) == (frozenset(), SWITCHES)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"inlayHint": {"shapes": True}}, "unknown key 'netsharp.inlayHint'."),
        (
            {"inlayHints.shape": True},
            "unknown key 'netsharp.inlayHints.shape'. Did you mean 'inlayHints.shapes'?",
        ),
        ({"inlayHints": {"shapes": "on"}}, "'netsharp.inlayHints.shapes' must be true or false"),
        ({"codeLens": 3}, "unknown key 'netsharp.codeLens'."),
        (
            {"check": {"feature": 3}},
            "unknown key 'netsharp.check.feature'. Did you mean 'check.features'?",
        ),
        ({"check": {"features": "3"}}, "'netsharp.check.features' must be a whole number"),
        ({"check": {"task": "binari"}}, "'netsharp.check.task' must be one of binary"),
        ({"check": {"select": ["NX"]}}, "'netsharp.check.select': 'NX' is not a code"),
        ({"check": {"per-file-ignores": {"*": ["NX"]}}}, "'NX' is not a code"),
        ({"check": {"exclude": "old"}}, "'netsharp.check.exclude' must be a list of texts"),
    ],
)
def test_a_wrong_key_or_value_is_a_sentence_and_the_rest_holds(
    values: dict[str, Any], sentence: str
) -> None:
    preferences, problems = read_preferences({**values, "format.onType": True}, "/work")
    assert len(problems) == 1
    assert sentence in problems[0]
    assert preferences.formats_on_type
    assert preferences.switches | {"format.onType": False} == SWITCHES


def test_the_editor_wins_key_by_key_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "netsharp.toml").write_text(
        'select = ["NS0"]\nignore = ["NS001"]\nexclude = ["old"]\nfeatures = 8\noutputs = 9\n'
        '[per-file-ignores]\n"b.nn" = ["NS003"]\n'
    )
    file = read_settings(str(tmp_path / "netsharp.toml"))
    editor, _ = read_preferences(
        {"check": {"ignore": ["NS002"], "exclude": ["new"], "outputs": 3}}, str(tmp_path)
    )
    both = editor.over(file)
    chosen = both.selection(str(tmp_path / "a.nn"))
    assert [code for code in ("NS001", "NS002", "NS100") if chosen.wants(code)] == ["NS001"]
    assert not both.selection(str(tmp_path / "b.nn")).wants("NS003")
    assert both.excludes(str(tmp_path / "new" / "a.nn"))
    assert not both.excludes(str(tmp_path / "old" / "a.nn"))
    assert both.context.known() == {"features": 8, "outputs": 3}
    assert both.context.origin == {"features": "netsharp.toml", "outputs": "the editor's settings"}
    alone = Preferences().over(Settings())
    assert alone.context.known() == {}
    assert alone.selection(None).wants("NS001")
