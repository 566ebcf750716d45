"""Entry point of the command line: version and dispatch, nothing else.

Imports neither argparse nor a subcommand before it knows that it needs them.
"""

from __future__ import annotations

import gc
import os
import sys

from netsharp_lsp import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Every subcommand, in the order of a person's work; its module in `cli` has the same name.
COMMANDS = {
    "check": "say everything that is wrong with networks and configurations",
    "fmt": "put texts in order",
    "explain": "show what a diagnostic means",
    "describe": "say what a network is: shapes, kernels, parameters, cost",
    "diff": "compare two networks or experiments",
    "config": "show what a configuration of CNTK evaluates to",
    "migrate": "turn NDL networks into BrainScript that means the same",
    "run": "train a network on a table of data",
    "predict": "predict with a trained model",
    "evaluate": "measure a trained model on labelled data",
    "weights": "write the specification with trained weights",
    "lsp": "serve an editor",
}
INTERRUPTED = 130
BROKEN_PIPE = 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing but the code leaves this function.

    0: fine, 1: something was found, 2: could not run, 130: stopped by Ctrl-C.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    try:
        code = _dispatch(arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Python flushes stdout once more at its end; give it a place where that succeeds.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 2
    except Exception as error:
        return _apologise(error)
    if argv is None:
        # The process ends: looking through what a long text became, for cycles, frees nothing.
        gc.freeze()
    return code


def _dispatch(arguments: list[str]) -> int:
    if not arguments:
        sys.stderr.write(_usage())
        return 2
    name, rest = arguments[0], arguments[1:]
    if name in ("--version", "-V"):
        print(f"netsharp {__version__}")
        return 0
    if name in ("--help", "-h", "help"):
        if name != "help" or not rest:
            sys.stdout.write(_usage())
            return 0
        name, rest = rest[0], ["--help"]
    if name not in COMMANDS:
        return _unknown(name)
    return _run(name, rest)


def _run(name: str, rest: list[str]) -> int:
    """Let a subcommand's module read its arguments and do its work."""
    import argparse

    if hasattr(sys.stdout, "reconfigure"):
        # A file name or source line that the terminal cannot show must not end the program.
        sys.stdout.reconfigure(errors="backslashreplace")
    module = __import__(f"netsharp_lsp.cli.{name}", fromlist=["run"])
    from netsharp_lsp.cli.arguments import Arguments

    parser = Arguments(
        prog=f"netsharp {name}",
        description=f"{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}.",
        allow_abbrev=False,
        # With a width of its own argparse imports no shutil for each argument.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=_help_width()),
    )
    module.add_arguments(parser)
    code: int = module.run(parser.parse_intermixed_args(rest))
    return code


def _help_width() -> int:
    try:
        return max(40, os.get_terminal_size().columns - 2)
    except OSError:
        return 100


def _usage() -> str:
    width = max(map(len, COMMANDS))
    rows = "\n".join(f"  {name:<{width}}  {text}" for name, text in COMMANDS.items())
    return (
        "usage: netsharp COMMAND [OPTIONS] ...\n\n"
        "Check, format and describe neural networks in Net# (.nn, .netsharp) and in the\n"
        "languages of CNTK (.cntk, .config, .bs, .ndl, .mel); train and apply those in Net#.\n\n"
        f"commands:\n{rows}\n\n"
        "options:\n  --version  print the version\n  --help     print this text\n\n"
        "'netsharp COMMAND --help' lists a command's options.\n"
    )


def _unknown(name: str) -> int:
    from netsharp_lsp.diagnostics.nearest import suggestion

    what = "option" if name.startswith("-") else "command"
    hint = suggestion(name, COMMANDS) or " 'netsharp --help' lists the commands."
    print(f"netsharp: '{name}' is no {what}.{hint}", file=sys.stderr)
    return 2


def _apologise(error: Exception) -> int:
    """Say in one sentence what could not be foreseen."""
    if os.environ.get("NETSHARP_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        print(f"netsharp: {where}{error.strerror}.", file=sys.stderr)
        return 2
    if isinstance(error, MemoryError):
        print("netsharp: not enough memory. Make network, batch or table smaller.", file=sys.stderr)
        return 2
    print(
        f"netsharp: internal error ({type(error).__name__}: {error}); please report it with the "
        "file that caused it (NETSHARP_DEBUG=1 shows where it happened).",
        file=sys.stderr,
    )
    return 2


def _leave_working_folder() -> None:
    """Take the working directory off the path of modules, where `python -m` puts it first.

    What lies in a folder that is only to be checked must not stand for a package.
    """
    ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if not sys.flags.safe_path and sys.path[0] != ours:
        del sys.path[0]


if __name__ == "__main__":
    _leave_working_folder()
    sys.exit(main())
