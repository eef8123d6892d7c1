"""Exit codes."""

from collections.abc import Sequence

CLEAN, FINDINGS, USAGE, STALE, INTERNAL, DRIFTED, CHANGES = 0, 1, 2, 3, 4, 5, 6
# 128 and the signal, as a shell reports any program that SIGINT or SIGPIPE ended.
INTERRUPTED, BROKEN_PIPE = 130, 141

DETAILED = "--detailed-exitcode"
_SHORTEST = len("--d")
_BY_TERRAFORM = {CLEAN: 0, CHANGES: 2, INTERRUPTED: INTERRUPTED, BROKEN_PIPE: BROKEN_PIPE}


def detailed(words: Sequence[str], code: int) -> int:
    """The exit code for ``--detailed-exitcode``, which argparse takes shortened too: as Terraform has it, 0 nothing, 1
    an error, 2 changes. Wrong words are an error as well, so that 2 never means anything else."""
    is_asked = any(len(word) >= _SHORTEST and DETAILED.startswith(word) for word in words)
    if not is_asked:
        return code
    return _BY_TERRAFORM.get(code, 1)
