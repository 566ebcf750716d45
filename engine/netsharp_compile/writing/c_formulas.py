"""Transfer functions in C that are computed in fixed point, as ``formulas`` defines them.

Knows formulas, and nothing of sums.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from netsharp_compile.formulas import FAR, LN_2, LOG_2_E, NEAR, POWER, ROOT, TERMS

if TYPE_CHECKING:
    from netsharp_compile.integers import IntegerLayer, IntegerNetwork


def formula_functions(network: IntegerNetwork) -> Iterator[str]:
    """Yield the functions that the formulas of a network call."""
    used = {one.formula.function for one in network.layers if one.formula is not None}
    if used & {"sigmoid", "tanh", "srlinear"}:
        yield from _POWER
    for function in sorted(used & _FUNCTIONS.keys()):
        yield from _FUNCTIONS[function].splitlines()
        yield ""


def computed_value(layer: IntegerLayer, code: str) -> str:
    """Return the expression of a layer's value for the code of its sum."""
    formula, target, zero = layer.formula, layer.target, layer.result.zero_point
    assert formula is not None
    step = f"{code} - ({zero})" if zero else code
    own = {
        "linear": step,
        "rlinear": f"{code} > {zero} ? {step} : 0",
        "brlinear": f"{code} > {zero} ? {step} : 0",
        "abs": f"{code} > {zero} ? {step} : {zero} - {code}",
        "square": f"(int64_t)({step}) * ({step})",
        "sqrt": f"root({step})",
    }.get(formula.function)
    if own is None:
        name = _NAMES.get(formula.function, formula.function)
        own = f"{name}({step}, {formula.inner}, {formula.inner_shift})"
    return (
        f"rescaled({own}, {formula.multiplier}, {formula.shift}, {target.zero_point}, "
        f"{target.least}, {formula.most})"
    )


_NEAR = "((sign ? -(int64_t)d : d) * inner + (((int64_t)1 << shift) >> 1)) >> shift"
_POWER = f"""\
/* 2^{POWER} * 2^-(distance / 2^{NEAR}). */
static int64_t power(int64_t distance)
{{
    static const int32_t terms[{len(TERMS)}] = {{
        {", ".join(map(str, TERMS[:5]))},
        {", ".join(map(str, TERMS[5:]))}
    }};
    const int64_t part = distance & {(1 << NEAR) - 1};
    int64_t found = terms[{len(TERMS) - 1}];
    if (distance >> {NEAR} > {POWER})
        return 0;
    for (int k = {len(TERMS) - 2}; k >= 0; k--)
        found = terms[k] + floored(found * part, {NEAR});
    return found >> (distance >> {NEAR});
}}

""".splitlines()
_ONE = f"((int64_t)1 << {POWER})"
_FUNCTIONS = {
    "sigmoid": f"""\
static int64_t sigmoid(int32_t d, int32_t inner, int shift)
{{
    const int sign = d < 0;
    const int64_t below = {_ONE} + power({_NEAR});
    const int64_t found = (((int64_t)1 << {2 * POWER}) + below / 2) / below;
    return sign ? {_ONE} - found : found;
}}""",
    "tanh": f"""\
static int64_t tangent(int32_t d, int32_t inner, int shift)
{{
    const int sign = d < 0;
    const int64_t part = power({_NEAR});
    int64_t found = (({_ONE} - part) << {POWER}) / ({_ONE} + part);
    if (part == 0)
        found--;
    return sign ? -found : found;
}}""",
    "srlinear": f"""\
static int64_t srlinear(int32_t d, int32_t inner, int shift)
{{
    const int sign = d < 0;
    const int64_t near = {_NEAR};
    const int64_t far = near < {FAR}LL ? near : {FAR}LL;
    int64_t left = {_ONE} + power((far * {LOG_2_E} + ((int64_t)1 << 29)) >> 30);
    int64_t found = left >> {POWER + 1};
    left >>= found;
    found <<= {NEAR};
    for (int bit = {NEAR - 1}; bit >= 0; bit--) {{
        left = (left * left) >> {POWER};
        if (left >> {POWER + 1}) {{
            left >>= 1;
            found += (int64_t)1 << bit;
        }}
    }}
    return (sign ? 0 : near) + ((found * {LN_2} + ((int64_t)1 << 29)) >> 30);
}}""",
    "sqrt": f"""\
static int64_t root(int32_t d)
{{
    const int64_t square = d > 0 ? (int64_t)d << {ROOT} : 0;
    int64_t found = 0;
    for (int bit = {ROOT // 2 + 7}; bit >= 0; bit--) {{
        const int64_t tried = found + ((int64_t)1 << bit);
        if (tried * tried <= square)
            found = tried;
    }}
    return found;
}}""",
}
#: Where the C library has a function of the same name.
_NAMES = {"tanh": "tangent"}
