"""The corpus of the CNTK languages has every construct and every function, and no file twice."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from tree_sitter import Query, QueryCursor

from tests.cntk.collection import FILES, CntkFile
from tests.cntk.functions import BRAINSCRIPT, NDL, NDL_SHORT
from tests.cntk.trees import LANGUAGES, faults, placed, roots, shape

#: Constructs of BrainScript, as patterns over its trees.
MARKS = "* / .* ** % + - with == != < <= > >= && || << >> :"
BRAINSCRIPT_CONSTRUCTS = {
    **{f"infix {mark}": f'(binary operator: "{mark}") @x' for mark in MARKS.split()},
    **{f"prefix {mark}": f'(unary operator: "{mark}") @x' for mark in "+-!"},
    "member": "(source_file (member) @x)",
    "function": '(member (parameters "(" (parameter)) @x)',
    "function with braces": '(member (parameters "{" (parameter)) @x)',
    "function of nothing": '(parameters "(" . ")") @x',
    "optional parameter": "(parameter default: (_)) @x",
    "array member": "(member (index_range)) @x",
    "array member with parameters": "(member (index_range) (parameters)) @x",
    "separator": '(member ";") @x',
    "call": '(arguments "(" (_)) @x',
    "call with braces": '(arguments "{" (_)) @x',
    "empty call": '(arguments "(" . ")") @x',
    "empty call with braces": '(arguments "{" . "}") @x',
    "call of a call": "(call function: (call)) @x",
    "named argument": "(named_argument) @x",
    "named argument before others": "(arguments (named_argument) (identifier)) @x",
    "index": "(index) @x",
    "member access": "(select) @x",
    "record": '(record "{" (member)) @x',
    "record in brackets": '(record "[" (member)) @x',
    "empty record": '(record "{" . "}") @x',
    "empty record in brackets": '(record "[" . "]") @x',
    "member of a record": "(select object: (record)) @x",
    "array literal": '(array_literal (_) ";" (_)) @x',
    "empty array literal": '(array_literal "[|" . "|]") @x',
    "array constructor": "(array_constructor) @x",
    "new with record": "(new arguments: (record)) @x",
    "new with if": "(new arguments: (if)) @x",
    "new with a name": "(new arguments: (identifier)) @x",
    "member of a new object": "(select object: (new)) @x",
    "if": "(if) @x",
    "if that yields a function": "(call function: (parenthesized (if))) @x",
    "if with a list behind else": '(if alternative: (binary operator: ":")) @x',
    "lambda": "(lambda) @x",
    "lambda of a lambda": "(lambda body: (lambda)) @x",
    "parentheses": "(parenthesized) @x",
    "include": "(source_file (include)) @x",
    "include in a record": "(record (include)) @x",
    "builder of parentheses": "(built (parenthesized)) @x",
    "builder of a record": "(built (record)) @x",
    "boolean": "(boolean) @x",
    "template": "(variable) @x",
    "line comment": "(comment) @x",
    "block comment": "(block_comment) @x",
}
CNTK_CONSTRUCTS = {
    "assignment": "(assignment value: (text)) @x",
    "string": "(assignment value: (string)) @x",
    "no separator before the value": "(assignment . (key) . (block)) @x",
    "string without an equals sign": "(assignment . (key) . (string)) @x",
    "block": '(assignment value: (block "[" (assignment))) @x',
    "block of braces": '(assignment value: (block "{" (assignment))) @x',
    "list": "(assignment value: (list)) @x",
    "custom separator": '(list "(" . ";") @x',
    "list of blocks": "(list (block) (block)) @x",
    "list in a list": "(list (list)) @x",
    "array in braces": "(list (block (flag))) @x",
    "several words": "(assignment value: (joined (text) (text))) @x",
    "text with a bracket": "(assignment value: (joined (text) (block))) @x",
    "flag": "(source_file (flag (text))) @x",
    "string alone": "(source_file (flag (string))) @x",
    "block alone": "(source_file (flag (block))) @x",
    "list alone": "(source_file (flag (list))) @x",
    "record behind a string": "(source_file (assignment (string)) . (flag (text)) @x)",
    "record behind a call": "(_ (assignment (call)) . (assignment) @x)",
    "call": "(assignment value: (call)) @x",
    "statement": "(source_file (call)) @x",
    "named argument": "(named value: (text)) @x",
    "named argument with a string": "(named value: (string)) @x",
    "named argument with a shape": "(named value: (block)) @x",
    "call in a call": "(call (list (call))) @x",
    "arguments by colons": '(call (list (text) ":" (text))) @x',
    "macro": '(macro (list) "=" (block)) @x',
    "macro without an equals sign": "(macro . (function_name) . (list) . (block)) @x",
    "macro of one call": '(macro "=" (call)) @x',
    "builder": '(builder "=" (brainscript)) @x',
    "builder without an equals sign": "(builder . (key) . (brainscript)) @x",
    "builder by variable": "(builder (text)) @x",
    "builder by string": "(builder (string)) @x",
    "comma": '(block ",") @x',
    "semicolon": '(block ";") @x',
    "comment": "(comment) @x",
}
#: Constructs that are only text to the grammar.
TEXT_CONSTRUCTS = {
    "hash that stays": rb"= ?1#INF",
    "variable": rb"\$\w+\$",
    "variables side by side": rb"\$\w+\$\$\w+\$|\$\w+\$\\\$\w+\$",
    "layers": rb"configFile=\w+\.cntk\+",
    "include": rb"^include=\w",
    "include that is none": rb"^ include=",
    "repeats": rb"\d\*\d+:",
    "odd encoding": rb"\xef\xbb\xbf",
    "carriage returns": rb"\r\n",
    "old builder name": rb"ExperimentalNetworkBuilder",
    "builder in lower case": rb"brainscriptnetworkbuilder",
    "even stars": rb"\*\* /",
    "string over lines": rb'"two\nlines"',
    "hexadecimal": rb"0x1F",
    "range behind a number": rb"\d\.\.\d",
    "number before a point operator": rb"2\.\*a",
    "selection": rb"run = \$which\$",
    **{
        f"action {name}": rf"action ?= ?\"?{name}\b".encode()
        for name in [
            "train",
            "trainRNN",
            "test",
            "eval",
            "cv",
            "write",
            "edit",
            "bnstat",
            "dumpNodes",
            "plot",
            "SVD",
            "writeWordAndClass",
            "adapt",
            "createLabelMap",
            "convertdbn",
            "exportdbn",
            "devtest",
        ]
    },
    **{
        f"block {name}": rf"\b{name}\b".encode()
        for name in [
            "SGD",
            "AutoAdjust",
            "ParallelTrain",
            "DataParallelSGD",
            "ModelAveragingSGD",
            "BlockMomentumSGD",
            "DataParallelASGD",
            "SimpleNetworkBuilder",
            "NDLNetworkBuilder",
            "reader",
            "cvReader",
            "writer",
            "deserializers",
        ]
    },
    **{
        f"reader {name}": name.encode()
        for name in [
            "CNTKTextFormatReader",
            "ImageReader",
            "HTKMLFReader",
            "HTKFeatureDeserializer",
            "UCIFastReader",
            "LMSequenceReader",
            "LUSequenceReader",
            "LibSVMBinaryReader",
            "Kaldi2Reader",
            "DSSMReader",
        ]
    },
}
VALID = [file for file in FILES if not file.broken]


def called(file: CntkFile, *kinds: str) -> set[str]:
    """The dotted names that a file calls, or names at all where ``kinds`` has `identifier`."""
    return {
        re.sub(r"\s", "", str(node.text, "utf-8"))
        for node, _ in placed(file.language, file.data)
        if node.type in kinds
    }


def test_the_corpus_is_as_large_as_promised() -> None:
    assert len(FILES) >= 150
    count = Counter(file.id for file in VALID)
    assert all(count[kind] >= least for kind, least in {"ndl": 20, "mel": 5, "cntk": 35}.items())
    assert count["brainscript"] >= 35
    assert sum(file.broken for file in FILES) >= 35


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_has_faults_where_it_is_broken_and_only_there(file: CntkFile) -> None:
    assert bool(faults(file.language, file.data)) == file.broken


def test_no_two_files_differ_only_in_names_numbers_and_blanks() -> None:
    seen: dict[str, str] = {}
    for file in FILES:
        tree = shape(file.language, file.data)
        assert tree not in seen, (file.name, seen[tree])
        seen[tree] = file.name


@pytest.mark.parametrize("construct", BRAINSCRIPT_CONSTRUCTS)
def test_every_construct_of_brainscript_is_there(construct: str) -> None:
    assert found("brainscript", BRAINSCRIPT_CONSTRUCTS[construct])


@pytest.mark.parametrize("construct", CNTK_CONSTRUCTS)
def test_every_construct_of_configurations_is_there(construct: str) -> None:
    assert found("cntk", CNTK_CONSTRUCTS[construct])


def found(language: str, pattern: str) -> bool:
    """Whether a sound file, or a builder in it, has what ``pattern`` says."""
    query = Query(LANGUAGES[language], pattern)
    return any(
        QueryCursor(query).captures(root)
        for file in VALID
        for grammar, root, _ in roots(file.language, file.data)
        if grammar == language
    )


@pytest.mark.parametrize("construct", TEXT_CONSTRUCTS)
def test_every_construct_that_is_text_is_there(construct: str) -> None:
    pattern = re.compile(TEXT_CONSTRUCTS[construct], re.MULTILINE)
    assert any(pattern.search(file.data) for file in VALID)


def test_every_function_of_the_library_is_used() -> None:
    assert len(BRAINSCRIPT) == 231
    used = set().union(*(called(file, "identifier", "select") for file in VALID))
    assert sorted(set(BRAINSCRIPT) - used) == []


def test_every_function_of_ndl_is_used() -> None:
    assert len(NDL) == 78
    used = set().union(
        *(called(file, "function_name") for file in VALID if file.id in ("ndl", "mel", "cntk"))
    )
    # The name of this one is accepted, but nothing makes such a node.
    assert sorted(set(NDL) - used) == ["ROIPooling"]
    assert sorted(set(NDL_SHORT) - used) == []
