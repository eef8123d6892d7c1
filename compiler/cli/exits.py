"""Exit codes."""

CLEAN, FINDINGS, USAGE, STALE, INTERNAL, DRIFTED = 0, 1, 2, 3, 4, 5
# 128 and the signal, as a shell reports any program that SIGINT or SIGPIPE ended.
INTERRUPTED, BROKEN_PIPE = 130, 141
