"""Plain values come out as the original program computes them, and its traps are kept."""

from __future__ import annotations

import math

import pytest

from netsharp_lsp.cntk.brainscript.evaluation.values import Absent, Array
from netsharp_lsp.cntk.networks.faults import BuildingFault
from netsharp_lsp.cntk.networks.node import Node
from tests.cntk.brainscript.building import fault, value

VALUES: tuple[tuple[str, float | str | bool], ...] = (
    ("2**3**2", 64.0),
    ("-2**2", 4.0),
    ("7 % 3", 1.0),
    ("-7 % 3", -1.0),
    ("1 / 4", 0.25),
    ("1 / 0", math.inf),
    ("2 ** 0.5 < 1.5", True),
    ("'a' + 'b'", "ab"),
    ("'a' < 'b'", True),
    ("'a' != 'a'", False),
    ("true && !false", True),
    ("false || false", False),
    ("true == false", False),
    ("if 1 < 2 then 'yes' else nowhere", "yes"),
    ("(1:2:3)[1]", 2.0),
    ("[|4 ; 5|][0]", 4.0),
    ("array[2..4] (i => i * i)[3]", 9.0),
    ("Length (1:(2:3))", 2.0),
    ("Length ((1:2):3)", 3.0),
    ("Length ([||])", 0.0),
    ("Length (array[0..-1] (i => i))", 0.0),
    ("Length ('abc')", 3.0),
    ("Length ((1:2:3) << 1)", 2.0),
    ("((1:2:3) << 2)[0]", 3.0),
    ("Length ((1:2) << 5)", 0.0),
    ("Length (Repeat (3, 7))", 2.0),
    ("Length (_ConcatArrays (1:2, 3))", 3.0),
    ("_ConcatArrays (1:2, 3)[2]", 3.0),
    ("_ForceResizeArray (4, 1:2)[3]", 2.0),
    ("{ a = b ; b = 3 }.a", 3.0),
    ("{ f (x, y=2) = x * 10 + y }.f (1)", 12.0),
    ("{ f (x, y=2) = x * 10 + y }.f (y=4, 1)", 14.0),
    ("{ v[i:0..9] = if i < 2 then 1 else v[i-1] + v[i-2] }.v[9]", 55.0),
    ("((a => b => a - b) (5)) (3)", 2.0),
    ("((a => a * 2) >> (a => a + 1)) (5)", 11.0),
    ("(if true then (a => 1) else (a => 2)) (0)", 1.0),
    ("{ a = 1 ; r = { b = 2 } }.r.a", 1.0),
    ("{ a = { b = 1 ; never = nowhere } }.a.b", 1.0),
    ("{ f (never) = 3 }.f (nowhere)", 3.0),
    ("Fac (5)", 120.0),
    ("Min (1, 2) + Max (1, 2) * 10 + Sign (-3)", 20.0),
    ("Mod (-7, 3)", -1.0),
    ("IntDiv (-7, 2)", -3.0),
    ("Replace ('abcabc', 'bc', 'x')", "axax"),
    ("Substr ('hello', -3, 2)", "ll"),
    ("Substr ('hello', 1, -1)", "ello"),
    ("Chr (65)", "A"),
    ("Format (3, '')", "3"),
    ("Format (1.5, '.2')", "1.50"),
    ("Format ('a', '3')", "  a"),
    ("Sequential ((a => a + 1) : (a => a * 2)) (3)", 8.0),
    ("Parallel ((a => a + 1) : (a => a * 2), xs => xs[0] + xs[1]) (3)", 10.0),
    ("MergeBinary ((a => a) : (a => -a), {f (a, b) = a - b}.f) (3, 4)", 7.0),
    ("LayerStack {3, i => (a => a * 2)} (1)", 8.0),
    ("IsArray (1:2) && IsDouble (1) && IsBool (true) && !IsArray (1)", True),
    ("BS.Constants.IsNone (None)", True),
    ("BS.Constants.IsNone (0)", False),
    ("_AreElementsTheSame (3:3:3, 3)", True),
    ("Input (3:4).dim", 12.0),
    ("Input (3).operation", "InputValue"),
    ("(Input (3) + 1).PlusArgs[0].dim", 3.0),
    ("new NumericFunction { what = 'Floor' ; arg = -1.5 }", -2.0),
    ("new Debug { value = 4 ; enabled = true ; say = '' }", 4.0),
    ("precision", "float"),
    ("Inferred", 0.0),
)


@pytest.mark.parametrize(("text", "expected"), VALUES)
def test_value(text: str, expected: float | str | bool) -> None:
    found = value(f"x = {text}")
    assert type(found) is type(expected)
    assert found == expected


#: What fails, with its kind and the text that is marked.
FAULTS = (
    ("nowhere", "unknown-name", "nowhere"),
    ("{ a = 1 }.b", "unknown-member", "b"),
    ("Input (3).bar", "unknown-member", "bar"),
    ("x", "circular", "x"),
    ("{ a = b ; b = a }.a", "circular", "b"),
    ("{ f (a) = f (a + 1) }.f (0)", "too-deep", "f"),
    ("{ f (a) = a }.f (1, 2)", "arity", "{ f (a) = a }.f (1, 2)"),
    ("{ f (a, b=1) = a }.f (1, c=2)", "unknown-argument", "2"),
    ("{ f (a, b=a) = b }.f (1)", "unknown-name", "a"),
    ("{ f (b=nowhere) = 1 ; g = f >> (a => a) }.g", "unknown-name", "nowhere"),
    ("(1:2)[2]", "index", "2"),
    ("(1:2)[0.5]", "kind", "0.5"),
    ("array[1..3] (i => i)[0]", "index", "0"),
    ("Length (array[1..3] (i => i))", "first-index", "library:values.bs"),
    ("array[0..1] ({ f (a, b) = a }.f)", "arity", "({ f (a, b) = a }.f)"),
    ("array[0..1.5] (i => i)", "kind", "1.5"),
    ("if 1 then 2 else 3", "kind", "1"),
    ("1 (2)", "kind", "1"),
    ("(1).a", "kind", "(1)"),
    ("1 .* 2", "operator", "1 .* 2"),
    ("1 && true", "operator", "1 && true"),
    ("'a' - 'b'", "operator", "'a' - 'b'"),
    ("true < 1", "operator", "true < 1"),
    ("(a => a) >> 1", "operator", "(a => a) >> 1"),
    ("{a = 1} with {b = 1}", "with", "{a = 1} with {b = 1}"),
    ("!1", "operator", "!1"),
    ("-'a'", "operator", "-'a'"),
    ("-true", "operator", "-true"),
    ("2 / Input (3)", "node-operator", "2 / Input (3)"),
    ("Input (3) / Input (3)", "node-operator", "Input (3) / Input (3)"),
    ("Input (3) ** 2", "node-operator", "Input (3) ** 2"),
    ("Input (3) % 2", "node-operator", "Input (3) % 2"),
    ("Input (3) || true .* 1", "operator", "true .* 1"),
    ("Input (3) && 1", "node-operator", "Input (3) && 1"),
    ("Input (3) + true", "node-operator", "Input (3) + true"),
    ("Input (3) + 'a'", "node-operator", "Input (3) + 'a'"),
    ("if Input (1) then 1 else true", "node-operator", "if Input (1) then 1 else true"),
    ("new Nothing {}", "unknown-class", "Nothing"),
    ("new ComputationNode { operation = 'Nothing' ; tag = '' }", "unknown-operation", "'Nothing'"),
    ("new ComputationNode { operation = 'Exp' ; inputs = Input (1) }", "missing-parameter", None),
    ("new ComputationNode 3", "kind", "3"),
    ("Fail ('on purpose')", "failed", "'on purpose'"),
    ("Parameter {2, 3, init='best'}", "init", "'best'"),
    ("Parameter {2, 3, initValue=(1:2)}", "init-array", "(1:2)"),
    ("ParameterTensor {(2:-3)}", "dimension", "2:-3"),
    ("ParameterTensor {(2:1.5)}", "kind", "1.5"),
    ("ImageInput (1, 2, 3, imageLayout='XYZ')", "layout", "'XYZ'"),
    ("Exp (1:2)", "inputs", "library:nodes.bs"),
    ("PastValue (0, 1, timeStep='a')", "kind", "library:nodes.bs"),
    ("(Input (3) + 1).dim", "unknown-dimension", "dim"),
    ("Format (1, '%n')", "format", "library:values.bs"),
)


@pytest.mark.parametrize(("text", "kind", "place"), FAULTS)
def test_fault(text: str, kind: str, place: str | None) -> None:
    found, marked = fault(f"x = {text}")
    assert found == kind
    assert place is None or marked in (place, place.strip("()"))


def test_a_value_is_computed_once() -> None:
    text = "x = IsSameObject (a, a) ; a = Input (3)"
    assert value(text) is True
    assert value("x = IsSameObject (f (1), f (1)) ; f (n) = Input (n)") is False


def test_newlines_do_not_end_a_member() -> None:
    found = value("x = f\n(3)\nf (n) = n * 2")
    assert found == 6.0


def test_nothing_fails_on_what_only_a_run_knows() -> None:
    for text in (
        "$dim$",
        "$dim$ * 2 + 1",
        "BS.Network.Load ('m.dnn').a.b",
        "BS.Network.Load ('m.dnn').a (3)",
        "if $flag$ then 1 else nowhere",
        "array[0..$n$] (i => i)",
        "-$n$",
        "Length ($list$)",
        "$list$[$n$].a",
        "BS.Seq2Seq.GreedySequenceDecoderFrom (BS.Network.Load ('m.dnn'))",
        "BS.Network.Edit (BS.Network.Load ('m'), BS.Network.Editing, [||])",
    ):
        assert isinstance(value(f"x = {text}"), Absent), text
    sum_ = value("x = Input ($dim$) + 1")
    assert isinstance(sum_, Node)
    assert sum_.inputs[0].shape is None


def test_a_cloned_function_takes_as_many_nodes_as_it_has_inputs() -> None:
    clone = "net = BS.Network.Load ('m.dnn') f = BS.Network.CloneFunction (net.a : net.b, net.z)"
    assert isinstance(value(f"x = f (Input (1), Input (2)) {clone}"), Absent)
    assert fault(f"x = f (Input (1)) {clone}")[0] == "arity"


def test_includes() -> None:
    files = {
        "sub/a.bs": b"a = b + 1 include 'elsewhere/b.bs'",
        "sub/b.bs": b"b = 41",
        "loop.bs": b"include 'loop.bs'",
    }
    assert value("include 'sub/a.bs' x = a", files) == 42.0
    assert value("x = { include 'sub/b.bs' }.b", files) == 41.0
    assert fault("include 'nothing.bs' x = 1", files) == ("include", "include 'nothing.bs'")
    assert fault("include 'loop.bs' x = 1", files)[0] == "include-cycle"


def test_arrays_keep_their_first_index() -> None:
    found = value("x = array[3..5] (i => i)")
    assert isinstance(found, Array)
    assert (found.first, len(found.items)) == (3, 3)


def test_deep_recursion_that_ends_does_so() -> None:
    assert value("x = f (1500) f (n) = if n == 0 then 0 else 1 + f (n - 1)") == 1500.0


def test_calls_that_led_to_a_fault() -> None:
    text = "x = f (1) f (n) = g (n) g (n) = nowhere"
    found = value(text)
    assert isinstance(found, BuildingFault)
    assert [text[one.start : one.end] for one in found.calls] == ["f (1)", "g (n)"]
