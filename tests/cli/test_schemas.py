"""The committed schemas are schemas, closed where the contract is, and true of real answers."""

from __future__ import annotations

import json
import pathlib

import jsonschema
import pytest

import netsharp_lsp
from netsharp_lsp.context import Context
from netsharp_lsp.netsharp.describe import describe_network
from netsharp_lsp.netsharp.meaning.steps.revision import resolve
from netsharp_lsp.netsharp.reading.parser import parse

FOLDER = pathlib.Path(netsharp_lsp.__file__).parent / "schemas"
CORPUS = sorted((pathlib.Path(__file__).parent.parent / "corpus" / "guide").glob("*.nn"))
POSITION = {"line": 1, "column": 1}
DIAGNOSTIC = {
    "file": "a.nn",
    "code": "NS001",
    "severity": "error",
    "message": "m",
    "start": POSITION,
    "end": POSITION,
    "related": [],
    "fix": None,
}


def schema(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((FOLDER / name).read_text("utf-8")))


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_every_schema_is_one(path: pathlib.Path) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(path.read_text("utf-8")))


@pytest.mark.parametrize(
    "change",
    [
        {"severity": "fatal"},
        {"start": {"line": 0, "column": 1}},
        {"code": ""},
        {"message": ""},
        {"fix": {"title": "t", "safe": True, "edits": []}},
        {"extra": 1},
        {"related": [{}]},
    ],
)
def test_the_check_schema_refuses_what_the_contract_does(change: dict[str, object]) -> None:
    validator = schema("check.json")
    assert validator.is_valid({"version": 1, "diagnostics": [DIAGNOSTIC]})
    assert not validator.is_valid({"version": 1, "diagnostics": [DIAGNOSTIC | change]})
    assert not validator.is_valid({"version": 2, "diagnostics": []})


@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
@pytest.mark.parametrize(
    "context", [Context(), Context(4, 20, 3, "multiclass")], ids=["alone", "known"]
)
def test_every_network_of_the_guide_is_described_as_the_schema_says(
    path: pathlib.Path, context: Context
) -> None:
    description = describe_network(resolve(parse(path.read_bytes()), context))
    schema("describe.json").validate(json.loads(json.dumps(description)))
