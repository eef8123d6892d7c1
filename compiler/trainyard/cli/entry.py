"""The process around ``main``: one run, and out at once."""

from __future__ import annotations

import gc
import os
import sys

from trainyard.cli import repeat
from trainyard.cli.exits import BROKEN_PIPE, USAGE
from trainyard.cli.streams import prepare
from trainyard.disk.inputs import recording


def entry() -> None:
    """Run the command line and leave the process with its exit code.

    A run keeps nearly all that it creates until its end, so the collector would only walk it again and again; and
    tearing down the interpreter object by object would take a tenth of a small run (mypy leaves in the same way).
    """
    gc.disable()
    prepare()
    request = repeat.request(sys.argv[1:])
    if request is None:
        code = _run()
    else:
        code = _asked(request)
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = BROKEN_PIPE
    except OSError:
        # `--help` to a full disk; whatever a command says was flushed by it.
        code = code or USAGE
    os._exit(code)


def _asked(request: repeat.Request) -> int:
    """The output of an earlier run with the same inputs, or a new run that is recorded."""
    known = request.answer()
    if known is not None:
        return known
    repeat.current = request
    said = repeat.listen()
    with recording() as record:
        code = _run()
    request.keep(record, said, code)
    return code


def _run() -> int:
    # No plugin of pydantic that happens to be installed has a say in what a spec means, or is searched for, which
    # takes a twentieth of `check` (pydantic 2.7, pull request 8767).
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    from trainyard.cli.main import main

    return main()
