"""Descriptions of options and declarations, in Markdown; knows no edited text."""

from __future__ import annotations

from netsharp_lsp.cntk.ndl.functions import ANY
from netsharp_lsp.cntk.versions import ALWAYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from netsharp_lsp.cntk.brainscript.reading.syntax import Parameter
    from netsharp_lsp.cntk.configuration.options import Block, Option
    from netsharp_lsp.cntk.ndl.functions import NdlFunction
    from netsharp_lsp.cntk.versions import Releases

#: The kinds of an option's value in words.
KINDS = {
    "number": "a number",
    "integer": "an integer",
    "truth": "true or false",
    "text": "a text",
    "choice": "one of several words",
    "input": "a file that is read",
    "output": "a file that is written",
    "nodes": "names of nodes",
    "names": "names of other keys",
    "block": "a block",
    "blocks": "a list of blocks",
}


def option_markdown(option: Option, table: Block) -> str:
    """Return the description of an option: its meaning, its values, its default."""
    lines = [
        f"**{option.name}**: {KINDS[option.kind]}; option of {table.name}",
        "",
        option.description,
    ]
    if option.known != ALWAYS:
        lines += ["", f"CNTK reads it {option.known}."]
    if option.values:
        words = ", ".join(f"`{value}`{_when(option.word(value))}" for value in option.values)
        head = "Values" if option.kind == "choice" else "Additional values"
        lines += ["", f"{head}: {words}."]
    if option.span is not None:
        lines += ["", f"The value has to be {option.span}."]
    if option.required:
        lines += ["", "CNTK stops without it."]
    elif option.default is not None:
        lines += ["", f"Default: `{option.default}`." if option.default else "Default: none."]
    if option.instead:
        lines += ["", f"Deprecated; write `{option.instead}` today."]
    return "\n".join(lines)


def _when(known: Releases) -> str:
    """Return the versions of CNTK that know a word, in brackets; empty where all do."""
    return f" ({known})" if known != ALWAYS else ""


def parameter_text(parameter: Parameter, source: bytes) -> str:
    """Return a parameter as it is declared, with its default."""
    if parameter.default is None:
        return parameter.name
    place = parameter.default.place
    words = " ".join(source[place.start : place.end].decode("utf-8", "replace").split())
    return f"{parameter.name}={words}"


def ndl_parameters(function: NdlFunction) -> tuple[str, ...]:
    """Return the arguments of a function of NDL, optional ones with their defaults."""
    words = [*function.signature, *(["..."] if function.most >= ANY else [])]
    options = (f"{name}={one.default or repr('')}" for name, one in function.options.items())
    return (*words, *options, "tag=''")


def comment_above(data: bytes, start: int) -> str:
    """Return the lines of comment directly above a declaration, without their marks."""
    line = data.rfind(b"\n", 0, start) + 1
    found: list[str] = []
    while line > 0:
        before = data.rfind(b"\n", 0, line - 1) + 1
        text = data[before : line - 1].decode("utf-8", "replace").strip()
        if not text.startswith(("#", "//")) or text.startswith("# netsharp:"):
            break
        found.insert(0, text.lstrip("#/ "))
        line = before
    return "\n".join(found).strip()


def ndl_signature(function: NdlFunction) -> str:
    """Return the form of a function of NDL."""
    return f"{function.name}({', '.join(ndl_parameters(function))})"
