"""C99 that makes codes of features, for devices that have floating point.

Knows how features become codes, and nothing of layers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from netsharp_compile.integers import FeatureCodes

#: The macro that takes it in: without it the file is empty.
WANTED = "NETSHARP_WITH_FLOAT"


def quantizer_declared(prefix: str) -> list[str]:
    """Return the lines of the header."""
    upper = prefix.upper()
    return [
        f"#ifdef {WANTED}",
        "/* Codes of features that are as the training had them. */",
        f"void {prefix}_quantize(const float features[{upper}_IN], {prefix}_in_t x[{upper}_IN]);",
        "#endif",
    ]


def quantizer_files(features: FeatureCodes, prefix: str) -> dict[str, str]:
    """Return the text of the file by its name."""
    return {f"{prefix}_quantize.c": "\n".join([*_code(features, prefix), ""])}


def _code(features: FeatureCodes, prefix: str) -> Iterator[str]:
    upper = prefix.upper()
    least = features.codes.least
    yield f"/* See {prefix}.h; built with {WANTED} only. */"
    yield f'#include "{prefix}.h"'
    yield ""
    yield f"#ifdef {WANTED}"
    yield "/* Of each feature what is subtracted, and what is then multiplied with. */"
    yield f"static const double scales[{upper}_IN][2] = {{"
    for offset, factor in zip(features.offset.tolist(), features.factor.tolist(), strict=True):
        yield f"    {{{offset.hex()}, {factor.hex()}}},"
    yield "};"
    yield "/* And its lowest and its largest step. */"
    yield f"static const uint16_t ends[{upper}_IN][2] = {{"
    for lowest, most in zip(features.lowest.tolist(), features.most.tolist(), strict=True):
        yield f"    {{{lowest}, {most}}},"
    yield "};"
    yield ""
    if features.edges:
        yield from _reached(features, upper)
    yield f"void {prefix}_quantize(const float features[{upper}_IN], {prefix}_in_t x[{upper}_IN])"
    yield "{"
    yield f"    for (int n = 0; n < {upper}_IN; n++) {{"
    read = "reached(features[n], n)" if features.edges else "features[n]"
    yield "        /* Stored, so that no compiler joins the product with what follows it. */"
    yield f"        volatile double product = ((double){read} - scales[n][0]) * scales[n][1];"
    yield "        const double value = product;"
    yield "        int32_t step = ends[n][0];"
    yield "        if (value >= ends[n][1])"
    yield "            step = ends[n][1];"
    yield "        else if (value > step) {"
    yield "            step = (int32_t)value;"
    yield "            step += value - step >= 0.5;"
    yield "        }"
    moved = f" + ({least})" if least else ""
    yield f"        x[n] = ({prefix}_in_t)(step{moved});"
    yield "    }"
    yield "}"
    yield "#endif"


def _reached(features: FeatureCodes, upper: str) -> Iterator[str]:
    """Yield the lines with the edges of all features' bins, and of the function that counts those
    that a feature reaches.
    """
    ends = [0]
    for edges in features.edges:
        ends.append(ends[-1] + len(edges))
    yield f"static const double edges[{max(ends[-1], 1)}] = {{"
    yield from (f"    {one.hex()}," for edges in features.edges for one in edges.tolist())
    yield from ["    0,"] if not ends[-1] else []
    yield "};"
    yield f"static const int32_t firsts[{upper}_IN + 1] = {{"
    yield from (f"    {one}," for one in ends)
    yield "};"
    yield ""
    yield "/* How many edges of its bins a feature reaches. */"
    yield "static double reached(double feature, int n)"
    yield "{"
    yield "    int32_t found = 0;"
    yield "    for (int32_t i = firsts[n]; i < firsts[n + 1]; i++)"
    yield "        found += feature >= edges[i];"
    yield "    return found;"
    yield "}"
    yield ""
