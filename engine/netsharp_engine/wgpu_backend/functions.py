"""Functions in WGSL that formulas call by name: a program has those that its formulas name.

They know no buffers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from netsharp_engine.dropping.philox import FACTORS, GROWTH, ROUNDS


def _turns() -> str:
    """Return the rounds one after the other: a loop would count against the bound of its trips."""
    for_round = [tuple(number * each % 2**32 for each in GROWTH) for number in range(ROUNDS)]
    return "\n".join(
        f"  x = philox_round(x, key + vec2<u32>({first}u, {second}u));"
        for first, second in for_round
    )


_PHILOX = f"""\
// The upper half of a product of 64 bits.
fn upper_half(a: u32, b: u32) -> u32 {{
  let low = (a & 0xFFFFu) * (b & 0xFFFFu);
  let left = (a >> 16u) * (b & 0xFFFFu) + (low >> 16u);
  let right = (a & 0xFFFFu) * (b >> 16u) + (left & 0xFFFFu);
  return (a >> 16u) * (b >> 16u) + (left >> 16u) + (right >> 16u);
}}

fn philox_round(x: vec4<u32>, key: vec2<u32>) -> vec4<u32> {{
  return vec4<u32>(upper_half(x.z, {FACTORS[1]}u) ^ x.y ^ key.x, x.z * {FACTORS[1]}u,
                   upper_half(x.x, {FACTORS[0]}u) ^ x.w ^ key.y, x.x * {FACTORS[0]}u);
}}

// A word of Philox-4x32-10 at a counter.
fn philox(counter: vec4<u32>, key: vec2<u32>, word: u32) -> u32 {{
  var x = counter;
{_turns()}
  return x[word];
}}
"""
#: Texts by the name that formulas call.
TEXTS: Mapping[str, str] = {"philox": _PHILOX}


def called(formulas: Iterable[str]) -> Iterator[str]:
    """Yield the lines of the functions that some formulas call."""
    known = list(formulas)
    for name, text in TEXTS.items():
        if any(f"{name}(" in formula for formula in known):
            yield from text.splitlines()
            yield ""
