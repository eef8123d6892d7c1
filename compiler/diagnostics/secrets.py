"""What is a secret, by its form or by the name before it: found in what is judged, hidden in what is shown."""

from __future__ import annotations

import re

# The forms that owners give their tokens so that they are found (GitHub, supported secret scanning patterns; Hugging
# Face, user access tokens; AWS IAM, unique identifiers; RFC 7519 and RFC 7468).
# The middle column is what every such text has in it: most texts have none, and no expression is compiled for them.
_FORMS = (
    ("a token of Hugging Face", ("hf_",), r"\bhf_[A-Za-z0-9]{20,}"),
    ("an access key of AWS", ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    (
        "a token of GitHub",
        ("gh", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})",
    ),
    ("a token of GitLab", ("glpat-",), r"\bglpat-[\w-]{20,}"),
    ("a token of Slack", ("xox",), r"\bxox[abprs]-[\w-]{10,}"),
    ("an API key", ("sk-", "nvapi-", "pypi-"), r"\b(?:sk|nvapi|pypi)-[\w-]{20,}"),
    ("a signed token", ("eyJ",), r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    ("a private key", ("PRIVATE KEY",), r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    ("the password of a URL", ("@",), r"(?<=://)[^\s:/@]+:[^\s/@$]+(?=@)"),
)

NAMES = tuple(
    f"_{name}"
    for name in (
        "HF_TOKEN",
        "HUGGINGFACE_TOKEN",
        "HUGGING_FACE_TOKEN",
        "HUGGINGFACE_HUB_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
        "AWS_SESSION_TOKEN",
        "AWS_SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "API_KEY",
        "APIKEY",
        "PASSWORD",
        "PASSWD",
        "SECRET_KEY",
        "ACCESS_TOKEN",
        "AUTH_TOKEN",
    )
)
"""Ends of the names that carry credentials, after ``_``."""

_KEYS = "|".join(name[1:].replace("_", "[-_]") for name in NAMES)
_NAMED = rf"(?:\b|_)(?:{_KEYS})[\"']?\s*[:=]\s*[\"']?(?P<value>[^\s\"',}}\]$]{{6,}})"
_OPTION = rf"--[\w-]{{0,40}}?(?:{_KEYS}|token)(?:=|[\"']?\s*,?\s+[\"']?)(?P<value>(?!-)[^\s\"',}}\]$]{{6,}})"
_HINTS = "|".join(hint for _, hints, _ in _FORMS for hint in hints)


def forms(text: str) -> list[str]:
    """What kinds of secrets stand in a text, by their form."""
    return [what for what, pattern in _possible(text) if re.search(pattern, text)]


def _possible(text: str) -> list[tuple[str, str]]:
    """The kinds of which a text has a hint, with their patterns; of nearly every text of thousands of jobs, none."""
    if re.search(_HINTS, text) is None:
        return []
    possible = []
    for what, hints, pattern in _FORMS:
        if any(hint in text for hint in hints):
            possible.append((what, pattern))
    return possible


def named(name: str) -> bool:
    """Whether a variable or an option of this name carries a credential."""
    return f"_{name.replace('-', '_').upper()}".endswith(NAMES)


def named_values(text: str) -> list[str]:
    """The names of keys of a text that carry credentials, and have a value that is no variable."""
    assignments = re.finditer(_NAMED, text, re.IGNORECASE)
    names = [assignment[0].lstrip("_") for assignment in assignments]
    return [re.split(r"[\s:=\"']", name, maxsplit=1)[0] for name in names]


def masked(text: str) -> str:
    """The text with ``*`` for each character of a secret, so that columns stay what they are."""
    for _, pattern in _possible(text):
        text = re.sub(pattern, lambda secret: "*" * len(secret[0]), text)
    for pattern in (_NAMED, _OPTION):
        text = re.sub(pattern, _hide_value, text, flags=re.IGNORECASE)
    return text


def _hide_value(assignment: re.Match[str]) -> str:
    text, hidden = assignment[0], "*" * len(assignment["value"])
    start = assignment.start("value") - assignment.start()
    end = start + len(hidden)
    return text[:start] + hidden + text[end:]
