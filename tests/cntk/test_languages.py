"""The four languages as `language.py` asks for them: whatever the text, whatever the runs."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from netsharp_lsp.context import Context
from netsharp_lsp.language import (
    known_codes,
    language_by_id,
    language_for,
    language_ids,
    language_of_name,
)
from netsharp_lsp.workspace import GivenFiles, Premises, Run, Workspace
from tests.cntk.collection import FILES, IDS

LAW = settings(max_examples=60, deadline=None, derandomize=True)
TEXTS = {
    file.name: file.data.decode("utf-8", "replace").encode()
    for file in FILES
    if len(file.data) < 4000
}
NETWORK = b"f = Input {3}\nz = Tanh (f)\nq = Foo (z)\noutputNodes = (z)\n"
CONFIGURATION = (
    b"command = T\nT = { action = train\n"
    b'BrainScriptNetworkBuilder = { include "net.bs" } ; x = "$Gone$" }\n'
)


def test_every_suffix_leads_to_its_language() -> None:
    assert {suffix: language_of_name(f"a{suffix}") for suffix in IDS} == IDS
    assert {language_for(f"a{suffix}").id for suffix in IDS} == set(language_ids()) - {"netsharp"}
    assert len(known_codes()) == len(set(known_codes()))
    assert {"NS001", "CK001"} <= set(known_codes())


@pytest.mark.parametrize("language_id", sorted(set(IDS.values())))
@LAW
@given(
    st.sampled_from(sorted(TEXTS)),
    st.integers(0, 4000),
    st.integers(0, 60),
    st.sampled_from(["", "{", "]", '"', "$", "#", "\n", "a = ", "//", "(", "\u20ac"]),
)
def test_a_check_says_something_valid_of_any_text(
    language_id: str, name: str, at: int, length: int, put: str
) -> None:
    text = TEXTS[name]
    cut = text[:at] + put.encode() + text[at + length :]
    data = cut.decode("utf-8", "ignore").encode()
    language = language_by_id(language_id)
    result = language.check(data, Context())
    known = set(language.rules.codes)
    for one in result.diagnostics:
        assert 0 <= one.start <= one.end <= len(data), one
        assert one.code in known
        assert one.message
        for edit in one.fix.edits if one.fix is not None else ():
            assert 0 <= edit.start <= edit.end <= len(data), one
    keys = [one.sort_key for one in result.diagnostics]
    assert keys == sorted(keys)
    ends = [0, *(end for _, end in result.comments)]
    assert all(end <= start for end, (start, _) in zip(ends, result.comments, strict=False))
    assert language.check(data, Context()).diagnostics == result.diagnostics


def around(name: str, *runs: Run, **more: object) -> Context:
    files = {"a.cntk": CONFIGURATION, "b.cntk": b"Gone = 1\n", "net.bs": NETWORK}
    workspace = Workspace(name, GivenFiles(files), runs, **more)  # type: ignore[arg-type]
    return Context(workspace=workspace)


def reported(language_id: str, data: bytes, context: Context) -> dict[str, str]:
    found = language_by_id(language_id).check(data, context).diagnostics
    return {one.code: one.severity for one in found}


def test_what_is_reported_depends_on_the_runs() -> None:
    assert reported("brainscript", NETWORK, around("net.bs"))["BS020"] == "hint"
    alone = Run(("configFile=a.cntk",), declared=False)
    declared = Run(("configFile=a.cntk",))
    layered = Run(("configFile=a.cntk+b.cntk",))
    assert reported("brainscript", NETWORK, around("net.bs", alone))["BS020"] == "error"
    assert reported("cntk", CONFIGURATION, around("a.cntk", alone))["CK019"] == "info"
    assert reported("cntk", CONFIGURATION, around("a.cntk", alone, declared))["CK019"] == "error"
    assert "CK019" not in reported("cntk", CONFIGURATION, around("a.cntk", layered))
    given = around("a.cntk", alone, assignments=("Gone=2",))
    assert "CK019" not in reported("cntk", CONFIGURATION, given)
    assert "CK019" not in reported(
        "cntk", CONFIGURATION, around("a.cntk", alone, given=Premises(frozenset(("gone",))))
    )


def test_a_run_is_analysed_once_for_all_its_texts_and_again_when_one_changes() -> None:
    run = Run(("configFile=a.cntk",))
    first, second = around("a.cntk", run), around("net.bs", run)
    assert first.workspace is not None
    assert second.workspace is not None
    second.workspace.known = first.workspace.known
    reported("cntk", CONFIGURATION, first)
    (known,) = first.workspace.known.values()
    assert reported("brainscript", NETWORK, second)["BS020"] == "error"
    assert list(first.workspace.known.values()) == [known]
    assert "BS020" not in reported("brainscript", NETWORK.replace(b"q = Foo (z)\n", b""), second)
