"""Entry point of the command line: version and dispatch, nothing else.

Imports neither argparse nor a subcommand before it knows that it needs them.
"""

from __future__ import annotations

import gc
import os
import signal
import sys

from netsharp_lsp import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Every subcommand, in the order of a person's work; its module in `cli` has the same name.  One
#: without a description does what a family of languages defines.
COMMANDS = {
    "check": "report everything that is wrong with networks and configurations",
    "fmt": "format networks and configurations",
    "explain": "show what a diagnostic means",
    "describe": "describe a network: shapes, kernels, parameters, cost",
    "diff": "compare two networks or experiments",
    "config": "",
    "migrate": "",
    "import": "turn training calls in R, Python or SQL scripts into specifications and run files",
    "run": "train a network on a table of data, or run the commands of a configuration",
    "doctor": "predict how a training would start, or list the devices that can compute here",
    "plan": "print what a device would run in a training step: calls, buffers, bytes",
    "cache": "list or clear the prepared tables that runs have kept",
    "predict": "predict with a trained model",
    "evaluate": "evaluate a trained model on labelled data",
    "weights": "list the weights of a model, or write a specification that contains them",
    "export": "convert a trained model to a format of other programs",
    "compile": "compile a trained network to integer-only C, with lookup tables as activations",
    "simulate": "predict with a compiled network, bit for bit as on the device",
    "lsp": "start the language server for an editor",
}
FAILED = 2
INTERRUPTED = 130
BROKEN_PIPE = 141
VERSION = ("--version", "-V")
USAGE_WIDTH = 84


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code; nothing but the code leaves this function.

    0: fine, 1: something was found, 2: could not run, 130: stopped by Ctrl-C.  Without `argv` it
    runs the process's own command, whose streams and signals it sets up.
    """
    if argv is not None:
        return _answer_within(list(argv))
    arguments = sys.argv[1:]
    out = None
    try:
        _interrupts.catch()
        if None in (sys.stdout, sys.stderr) or arguments[:1] not in ([flag] for flag in VERSION):
            from netsharp_lsp.cli.console.streams import protect
            from netsharp_lsp.memory import end_with_the_command

            end_with_the_command()
            out = protect()
        code = _answer(arguments)
        if out is not None and out.lost is not None and code not in (FAILED, BROKEN_PIPE):
            code = _failed(out.lost)  # argparse ignores errors of the stream it prints to.
        # The process ends: a search for cycles in the objects of a long text would free nothing.
        gc.freeze()
        # Inside the block: a signal before this call is an interrupt, a later one the end.
        _interrupts.release()
    except KeyboardInterrupt:
        if out is not None:
            out.close_quietly()
    return INTERRUPTED if _interrupts.came else code


def _answer_within(arguments: list[str]) -> int:
    """Answer in a process that continues, and restore its garbage collector."""
    collects = gc.isenabled()
    try:
        return _answer(arguments)
    except KeyboardInterrupt:
        return INTERRUPTED
    finally:
        if collects:
            gc.enable()


class _Interrupts:
    """Ctrl-C as an exception, of which no trace is printed; a second one ends the process.

    An interrupt that a destructor swallows ends it too: Python would only print that there was
    one.
    """

    def __init__(self) -> None:
        self.came = False
        self.ours = False

    def catch(self) -> None:
        """Let Ctrl-C raise KeyboardInterrupt, if so far it would have ended the process."""
        self.ours = signal.getsignal(signal.SIGINT) is signal.SIG_DFL
        if self.ours:
            sys.unraisablehook = self._unraisable
            signal.signal(signal.SIGINT, self._handle)

    def release(self) -> None:
        """Let Ctrl-C end the process again."""
        if self.ours:
            signal.signal(signal.SIGINT, signal.SIG_DFL)

    def _handle(self, number: int, frame: object) -> None:
        self.came = True
        signal.signal(number, signal.SIG_DFL)
        raise KeyboardInterrupt

    def _unraisable(self, unraisable: sys.UnraisableHookArgs) -> None:
        if issubclass(unraisable.exc_type, KeyboardInterrupt):
            os._exit(INTERRUPTED)
        sys.__unraisablehook__(unraisable)


_interrupts = _Interrupts()


def _answer(arguments: list[str]) -> int:
    """Run the command that the arguments name, and flush its output in any case."""
    try:
        code = _dispatch(arguments)
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else FAILED
    except Exception as error:
        if _interrupts.came:
            # A library converted it to another exception.
            raise KeyboardInterrupt from None
        code = _failed(error)
    try:
        sys.stdout.flush()
    except OSError as error:
        return _failed(error)
    return code


def _failed(error: Exception) -> int:
    """Print an unforeseen error; nothing where only the reader of the output has gone."""
    if isinstance(error, BrokenPipeError | ConnectionResetError):
        return BROKEN_PIPE
    return _report_internal_error(error)


def _dispatch(arguments: list[str]) -> int:
    if not arguments:
        sys.stderr.write(_usage())
        return 2
    name, rest = arguments[0], arguments[1:]
    if name in VERSION:
        return _print_version()
    if name in ("--help", "-h", "help"):
        if name != "help" or not rest:
            sys.stdout.write(_usage())
            return 0
        name, rest = rest[0], ["--help"]
    if name not in COMMANDS:
        return _unknown(name)
    return _run(name, rest)


def _print_version() -> int:
    try:
        print(f"netsharp {__version__}", flush=True)
    except OSError as error:
        from netsharp_lsp.cli.console.streams import give_up

        raise give_up(error) from None
    return 0


def _run(name: str, rest: list[str]) -> int:
    """Let a subcommand's module read its arguments and do its work."""
    import argparse

    module = __import__(f"netsharp_lsp.cli.{name}", fromlist=["run"])
    from netsharp_lsp.cli.arguments.parser import CommandParser

    purpose = _purpose(name)
    parser = CommandParser(
        prog=f"netsharp {name}",
        description=f"{purpose[0].upper()}{purpose[1:]}.",
        # argparse would write its usage for errors before it reads anything; ours are one sentence.
        usage=None if any(map(_asks_for_help, rest)) else "",
        allow_abbrev=False,
        # With a width of its own argparse imports no shutil for each argument.
        formatter_class=lambda prog: argparse.HelpFormatter(prog, width=_help_width()),
    )
    module.add_arguments(parser)
    parser.set_defaults(given_words=tuple(rest))
    code: int = module.run(parser.parse_intermixed_args(rest))
    return code


def _asks_for_help(word: str) -> bool:
    return word.startswith(("-h", "--help"))


def _purpose(name: str) -> str:
    """Return what a subcommand does, in the imperative."""
    if COMMANDS[name]:
        return COMMANDS[name]
    from netsharp_lsp.language import family_with

    if name == "config":
        return family_with(lambda one: one.configurations).purpose
    return family_with(lambda one: one.migrations).purpose


def _help_width() -> int:
    try:
        return max(40, os.get_terminal_size().columns - 2)
    except OSError:
        return 100


def _usage() -> str:
    import textwrap

    from netsharp_lsp.language import families

    known = " and in ".join(f"{one.title} ({', '.join(one.suffixes)})" for one in families())
    able = (one for one in families() if one.training is not None or one.experiments is not None)
    trained = " and ".join(one.title for one in able)
    purpose = f"Check, format and describe neural networks in {known}; "
    purpose += f"train and apply those in {trained}."
    width = max(map(len, COMMANDS))
    purposes = ((name, _purpose(name)) for name in COMMANDS)
    rows = "\n".join(f"  {name:<{width}}  {text}" for name, text in purposes)
    return (
        "usage: netsharp COMMAND [OPTIONS] ...\n\n"
        f"{textwrap.fill(purpose, USAGE_WIDTH)}\n\n"
        f"commands:\n{rows}\n\n"
        "options:\n  --version  print the version\n  --help     print this text\n\n"
        "'netsharp COMMAND --help' lists a command's options.\n"
    )


def _unknown(name: str) -> int:
    from netsharp_lsp.cli.console.terminal import complain
    from netsharp_lsp.diagnostics.nearest import suggestion

    what = "an option" if name.startswith("-") else "a command"
    hint = suggestion(name, COMMANDS) or " 'netsharp --help' lists the commands."
    complain(f"'{name}' is not {what}.{hint}")
    return 2


def _report_internal_error(error: Exception) -> int:
    """Say in one sentence what could not be foreseen."""
    from netsharp_lsp.cli.console.terminal import complain

    if os.environ.get("NETSHARP_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        complain(f"{where}{error.strerror}.")
    elif isinstance(error, MemoryError):
        complain("not enough memory. Make network, batch or table smaller.")
    else:
        complain(
            f"internal error ({type(error).__name__}: {error}); please report it with the "
            "file that caused it (NETSHARP_DEBUG=1 shows where it happened)."
        )
    return FAILED


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
