"""Exit codes."""

CLEAN, FINDINGS, USAGE, STALE, INTERNAL = 0, 1, 2, 3, 4
# 128 and the signal, as a shell reports any program that SIGINT or SIGPIPE ended.
INTERRUPTED, BROKEN_PIPE = 130, 141
