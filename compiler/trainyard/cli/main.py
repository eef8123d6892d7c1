"""The entry point: no traceback ever reaches a user."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from trainyard.cli.exits import INTERNAL, INTERRUPTED, USAGE, detailed
from trainyard.cli.grammar import absent, command_of, parser
from trainyard.cli.streams import leave_pipe, print_err
from trainyard.disk.inputs import cannot_repeat
from trainyard.language.source.read import MOST_DIGITS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code (0 clean, 1 findings, 2 usage, 3 stale, 4 internal, 5 drift)."""
    words = sys.argv[1:] if arguments is None else arguments
    return detailed(words, _run(words))


def _run(words: Sequence[str]) -> int:
    verbose = False
    sys.set_int_max_str_digits(MOST_DIGITS)
    try:
        lacking = absent(words)
        if lacking is not None:
            print_err(f"trainyard: {lacking}\n")
            return USAGE
        try:
            options = parser(words).parse_args(words)
        except SystemExit as ended:  # argparse has reported what is wrong, or printed its help
            cannot_repeat()
            return int(ended.code or 0)
        verbose = options.verbose
        return command_of(options.command).run(options)
    except BrokenPipeError:
        return leave_pipe()
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as fault:  # what the machine refuses: a mode, a full disk, a limit
        reason = fault.strerror or str(fault)
        first = reason[:1].lower()
        message = f"trainyard: {first}{reason[1:]}"
        if fault.filename:
            message += f": `{fault.filename}`"
        if verbose:
            message += _place(fault)
        print_err(f"{message}\n")
        return USAGE
    except MemoryError:
        print_err("trainyard: out of memory\n")
        return USAGE
    except (
        BaseException
    ) as fault:  # the last line of defence; a panic of pydantic's core is no `Exception`
        _report_panic(fault, verbose=verbose)
        return INTERNAL


def _place(fault: BaseException) -> str:
    trace, place = fault.__traceback__, ""
    while trace is not None:
        code = trace.tb_frame.f_code
        file = os.path.basename(code.co_filename)
        place = f" ({file}:{trace.tb_lineno})"
        trace = trace.tb_next
    return place


def _report_panic(fault: BaseException, *, verbose: bool) -> None:
    text = " ".join(str(fault).split())
    name = type(fault).__name__
    place = _place(fault) if verbose else ""
    more = "" if verbose else "; `--verbose` says where it arose"
    print_err(
        f"error[INT000]: {name}: {text}{place}\n"
        f"  = help: this is a fault of Trainyard: please report it with the spec{more}\n"
    )
