"""The process around ``main``: one run, and out at once."""

from __future__ import annotations

import gc
import os
import sys

from compiler.cli.deferred import defer_search
from compiler.cli.exits import BROKEN_PIPE, USAGE
from compiler.cli.main import main
from compiler.cli.streams import prepare


def entry() -> None:
    """Run the command line and leave the process with its exit code.

    A run keeps nearly all that it creates until its end, so the collector would only walk it again and again; and
    tearing down the interpreter object by object would take a tenth of a small run (mypy leaves in the same way).
    """
    gc.disable()
    # No plugin of pydantic that happens to be installed has a say in what a spec means, or is searched for, which
    # takes a twentieth of `check` (pydantic 2.7, pull request 8767).
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    defer_search()
    prepare()
    code = main()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        code = BROKEN_PIPE
    except OSError:
        # `--help` to a full disk; whatever a command says was flushed by it.
        code = code or USAGE
    os._exit(code)
