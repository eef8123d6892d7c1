"""Regular expressions as Go reads them (Go's ``regexp/syntax``), for programs like the node-problem-detector."""

from __future__ import annotations

import re
import warnings

# What Go has and Python has not, or writes otherwise, and what comes near it.
_ONLY_GO = (
    (r"\\[pP](?:\{\^?\w+\}|\w)", r"\\w"),
    (r"\\x\{[0-9A-Fa-f]+\}|\\C", "."),
    (r"\\z", "$"),
    (r"\(\?<(?=[A-Za-z_])", "(?P<"),
    (r"\(\?[imsU]*(?:-[imsU]+)?\)", ""),
    (r"\(\?[imsU]*(?:-[imsU]+)?:", "(?:"),
)
_ONLY_OTHERS = {
    r"\(\?<?[=!]": "look-around",
    r"\(\?>": "an atomic group",
    r"\(\?\(": "a condition",
    r"\(\?#": "a comment",
    r"\(\?P[=>]": "a back-reference",
    r"(?:[*+?]|\{\d+(?:,\d*)?\})\+": "a possessive repetition",
}


def compiled(text: str) -> re.Pattern[str] | str:
    """The pattern as near as Python has it, or why Go does not compile it; what is not certain passes."""
    text = re.sub(
        r"\\Q(.*?)(?:\\E|\Z)", lambda found: re.escape(found[1]), text, flags=re.DOTALL
    )
    if any(re.findall(r"\\(?:([1-9])(?![0-7])|.)", text, re.DOTALL)):
        return "a back-reference"
    bare = re.sub(r"\[\^?\]?[^]]*\]", "x", re.sub(r"\\.", "x", text, flags=re.DOTALL))
    for form, name in _ONLY_OTHERS.items():
        if re.search(form, bare):
            return name
    flags = re.IGNORECASE if re.search(r"\(\?[msU]*i", bare) else re.NOFLAG
    for form, same in _ONLY_GO:
        text = re.sub(form, same, text)
    try:
        with warnings.catch_warnings(
            action="ignore"
        ):  # of `[[:alpha:]]`, which Python will read otherwise one day
            return re.compile(text, flags)
    except re.error as problem:
        return str(problem)
