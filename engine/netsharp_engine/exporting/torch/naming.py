"""Identifiers of a network as Python may have them: nothing of a name becomes code.

Identifiers are ASCII letters, digits and single underscores; comments are printable ASCII.
"""

from __future__ import annotations

import keyword
import re

#: An identifier is at most so long, so that a statement of three fits on a line.
_MOST = 28
#: A comment shows at most so much of a name, and no name is read further than this.
_SHOWN, _READ = 70, 4_000
_WORDS = re.compile(r"[A-Za-z0-9]+")
_OURS_TEXT = """
CLASSES COLUMNS DTYPES Rows F Network Path Sequence Tensor encode float json len list load nn
predict range self super torch tuple zip
"""
#: What a module of the export has at its top, and what its functions call their own.
_OURS = frozenset(_OURS_TEXT.split())
_MODULE_ATTRIBUTES_TEXT = """
T_destination add_module apply bfloat16 buffers call_super_init children compile cpu cuda
double dump_patches eval extra_repr float forward get_buffer get_extra_state get_parameter
get_submodule half ipu load_state_dict modules mtia named_buffers named_children named_modules
named_parameters parameters register_backward_hook register_buffer register_forward_hook
register_forward_pre_hook register_full_backward_hook register_full_backward_pre_hook
register_load_state_dict_post_hook register_load_state_dict_pre_hook register_module
register_parameter register_state_dict_post_hook register_state_dict_pre_hook requires_grad_
set_extra_state set_submodule share_memory state_dict to to_empty train training type xpu
zero_grad
"""
#: Public attributes of torch.nn.Module, which a layer of that name would replace.
MODULE_ATTRIBUTES = frozenset(_MODULE_ATTRIBUTES_TEXT.split())
_RESERVED = {*keyword.kwlist, *keyword.softkwlist, *_OURS}


class Identifiers:
    """Identifiers of one scope, each given once."""

    def __init__(self, reserved: frozenset[str] = frozenset()) -> None:
        self._taken = {*_RESERVED, *reserved}
        self._counts: dict[str, int] = {}

    def fresh(self, text: str) -> str:
        """Return an identifier that is not taken, as near to a name as possible."""
        wanted = identifier(text)
        found, count = wanted, self._counts.get(wanted, 1)
        while found in self._taken:
            count += 1
            found = f"{wanted}_{count}"
        self._taken.add(found)
        self._counts[wanted] = count
        return found


def identifier(text: str) -> str:
    """Return the words of a name joined by underscores; of a long one the last words."""
    words: list[str] = _WORDS.findall(text[-_READ:])
    while words and (len("_".join(words)) > _MOST or words[0][0].isdigit()):
        if len(words) == 1:
            return f"n{words[0]}"[:_MOST]
        del words[0]
    return "_".join(words) or "value"


def shown(text: str) -> str:
    """Return a name for a comment or a docstring: nothing there ends it or means something else."""
    plain = re.sub(r"[^A-Za-z0-9 _./()\[\]<>=+*,'-]", "?", text[:_SHOWN]).strip()
    return plain if len(text) <= _SHOWN else f"{plain}..."


def section_of(name: str) -> str:
    """Return the block that a node belongs to by its name; empty where the name has no parts."""
    place = max(name.rfind("."), name.rfind("/"))
    return name[:place] if place > 0 else ""


def quoted(text: str) -> str:
    """Return a string literal of ASCII, with the quotes that formatters prefer."""
    mark = "'" if text.count('"') > text.count("'") else '"'
    return mark + "".join(_escaped(one, mark) for one in text) + mark


def _escaped(one: str, mark: str) -> str:
    code = ord(one)
    if one in ("\\", mark):
        return f"\\{one}"
    if 0x20 <= code < 0x7F:
        return one
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
