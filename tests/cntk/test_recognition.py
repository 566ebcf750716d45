"""Which language a file is, by its name and its text."""

from __future__ import annotations

import pytest

from netsharp_lsp.cntk.recognition import Foreign, language_of

FILES = [
    ("a.cntk", b"command = T", "cntk"),
    ("A.CNTK", b"", "cntk"),
    ("a.mlf.cntk", b'#!MLF!#\n"x.lab"\n', None),
    ("a.cntk", b"a\0b", None),
    ("a.cntk", "a = 1".encode("utf-16"), "cntk"),
    ("a.bs", b"f(x) = x\n", "brainscript"),
    ("a.bs", b"' game\nsub Main()\n", None),
    ("a.bs", b"Function f(x as integer)\n", None),
    ("a.bs", b"function = 1\n", "brainscript"),
    ("a.bs", b"sub x = 1\n", "brainscript"),
    ("a.ndl", b"x = Input(1)", "ndl"),
    ("a.mel", b"m = LoadModel(x)", "mel"),
    ("a.config", b"<?xml version='1.0'?>", None),
    ("a.config", b"command = T\n", "cntk"),
    ("a.config", b"T = [\n action = train\n]\n", None),
    ("a.config", b"T = [ x=1 ]\nSGD [ x=1 ]\n", "cntk"),
    ("a.config", b"NDLNetworkBuilder=[\nrun=x]\n", "cntk"),
    ("a.config", b"SOURCEKIND = WAVEFORM\n", None),
    ("a.txt", b"command = T", None),
]


@pytest.mark.parametrize(("name", "data", "language"), FILES)
def test_what_a_file_is(name: str, data: bytes, language: str | None) -> None:
    found = language_of(name, data)
    if language is None:
        assert isinstance(found, Foreign)
        assert found.reason
    else:
        assert found == language
