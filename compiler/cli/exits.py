"""Exit codes."""

CLEAN, FINDINGS, USAGE, STALE, INTERNAL = 0, 1, 2, 3, 4
INTERRUPTED, BROKEN_PIPE = (
    130,
    141,
)  # 128 and the signal, as a shell tells of any program that SIGINT or SIGPIPE ended
