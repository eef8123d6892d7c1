"""Detects credentials by their form or by the name before them: reported when found, hidden when shown."""

from __future__ import annotations

import re
from functools import lru_cache

# The forms that owners give their tokens so that they are found (GitHub, supported secret scanning patterns; Hugging
# Face, user access tokens; AWS IAM, unique identifiers; RFC 7519 and RFC 7468).
# The middle column is what every such text has in it: most texts have none, and no expression is compiled for them.
_FORMS = (
    ("a token of Hugging Face", ("hf_",), r"\bhf_[A-Za-z0-9]{20,}"),
    # AWS writes its examples with `EXAMPLE` at the end.
    ("an access key of AWS", ("AKIA", "ASIA"), r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b(?<!EXAMPLE)"),
    (
        "a token of GitHub",
        ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})",
    ),
    ("a token of GitLab", ("glpat-",), r"\bglpat-[\w-]{20,}"),
    ("a token of Slack", ("xox", "xapp-"), r"\b(?:xox[abeprs]|xapp)-[\w-]{10,}"),
    (
        "a webhook of Slack",
        ("hooks.slack.com",),
        r"(?<=hooks\.slack\.com/services/)T\w+/B\w+/\w{16,}",
    ),
    # A name of many words has no capitals: `pypi-mirror-of-the-team`.
    (
        "an API key",
        ("sk-", "nvapi-", "pypi-"),
        r"\b(?:sk|nvapi|pypi)-(?=[\w-]*[A-Z])(?=[\w-]*[0-9])[\w-]{20,}",
    ),
    ("an API key of Google", ("AIza",), r"\bAIza[\w-]{35}"),
    ("a token of Docker Hub", ("dckr_",), r"\bdckr_[po]at_[\w-]{20,}"),
    ("a signed token", ("eyJ",), r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    ("a private key", ("PRIVATE KEY",), r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?![\"'/|)])"),
    ("a key of age", ("AGE-SECRET-KEY-",), r"\bAGE-SECRET-KEY-1[A-Z0-9]{20,}"),
    (
        "the credentials of a header",
        ("asic ", "earer ", "oken "),
        r"(?<=[Aa]uthorization: )(?:[Bb]asic|[Bb]earer|[Tt]oken) +(?![$<{%])[\w+/=.~-]{8,}",
    ),
    # Words of a command line: W&B, CLI reference; AWS CLI 2, configure set; docker login.
    (
        "an API key of W&B",
        ("wandb",),
        r"\bwandb\s+login\b[^\n;&|]*\s[\"']?(?:[0-9a-f]{40}|wandb_v1_\w{20,})\b",
    ),
    (
        "a secret key of AWS",
        ("aws_secret_access_key ",),
        r"(?<=aws_secret_access_key )[\w+/]{40}\b",
    ),
    (
        "the password of a registry",
        ("docker login", "podman login"),
        r"\b(?:docker|podman) login\b[^\n;&|]*\s-p[ =]?[\"']?(?![$<{%])[^\s-]\S{5,}",
    ),
    # An image with a tag and a digest has the same form: `docker://alpine:3.19@sha256:…`; documentation writes
    # `http://user:pass@proxy`.
    (
        "the password of a URL",
        ("@",),
        r"(?<=://)(?!(?i:user(?:name)?:pass(?:wd|word)?@))[^\s:/@]*:(?![<{%])[^\s/@$]+(?=@(?!sha256:))",
    ),
)

_SHORTEST = 15
"""Characters of the shortest of them, which is of Slack; only the password of a URL may be shorter."""

NAMES = tuple(
    f"_{name}"
    for name in (
        "HF_TOKEN",
        "HUGGINGFACE_TOKEN",
        "HUGGING_FACE_TOKEN",
        "HUGGINGFACE_HUB_TOKEN",
        "HUGGING_FACE_HUB_TOKEN",
        "AWS_SESSION_TOKEN",
        "SECRET_ACCESS_KEY",
        "GITHUB_TOKEN",
        "API_KEY",
        "APIKEY",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "CLIENT_SECRET",
        "SECRET_KEY",
        "ACCESS_TOKEN",
        "AUTH_TOKEN",
    )
)
"""Ends of the names that carry credentials, after ``_``."""

_IN_NAMES = ("token", "pass", "api", "secret")
"""What every one of them has in it."""

_ENDED = r"(?:token|(?:api|access|secret)[-_]?key|passw(?:or)?d|passphrase|secret)[\"']?\s*[:=]"
"""How every one of them ends, before its sign. Few texts have it; the expression with all names takes far longer."""

_KEYS = "|".join(name[1:].replace("_", "[-_]?") for name in NAMES)
# A name begins with a word, with the part of one after `_`, or with a capital after small letters (`adminPassword`).
_BEGINS = r"(?:\b|_|(?<=[a-z0-9])(?=[A-Z]))"
_AFTER = r"(?P<after>[\"']?)"
_SIGN = r"[ \t]*[:=][ \t]*"
_TAGS = r"(?:[!&]\S*[ \t]+)*"  # a tag and an anchor of YAML stand before the value
_QUOTE = r"(?P<quote>[\"']?)"
_ASSIGNED = rf"{_AFTER}(?P<sign>{_SIGN}){_QUOTE}"
# A quoted password counts with any length: `password = "loki"`.
_SHORT = rf"{_AFTER}(?P<sign>{_SIGN})(?P<quote>[\"'])(?P<value>[^\s\"',}}\]$]{{3,5}})[\"']"
_NAMED = rf"{_BEGINS}(?i:{_KEYS}){_ASSIGNED}(?P<value>[^\s\"',}}\]$]{{6,}})"
_QUOTED = rf"{_BEGINS}(?i:PASSWORD|PASSWD|PASSPHRASE){_SHORT}"
_HIDDEN = (
    rf"{_BEGINS}(?i:{_KEYS}){_AFTER}(?P<sign>{_SIGN}{_TAGS}){_QUOTE}(?P<value>[^\s\"',}}\]$]+)"
)
_OPTION = rf"--[\w-]{{0,40}}?(?i:{_KEYS}|token)(?:=|[\"']?\s*,?\s+[\"']?)(?P<value>(?!-)[^\s\"',}}\]$]{{6,}})"
# What stands for a value that is elsewhere: a variable, a template, a path, an ARN, what SOPS encrypted; or for none,
# or for one that somebody is to write.
_REFERENCE = (
    r"(?s)\s*(?:$|\.[*+]$|\{\{|ENC\[|arn:|ref\+|vault:|op://|/[\w./-]+$|<[^<>]*>$|\*+$|\.\.\.$|…$"
    r"|(?i:null|none|nil|true|false|yes|no|on|off|[01])$)"
    r"|(?i:placeholder|replaced?|your|dummy|change[-_ ]?me|x{3,})[-_ A-Za-z]*$|\[[A-Za-z_ -]+\]$"
    r"|[A-Z_]+_PLACEHOLDER$"
    # What clients are given for a server that asks for no key, as vLLM's documentation does.
    r"|(?i:empty|unused|ignored|fake|not[-_ ]?(?:needed|required|used|set)|no[-_ ]?(?:api)?[-_ ]?key)$"
    r"|.*(?<!\$)\$[({A-Za-z_]|.*\$\$\{|.*\{\{"
)
# An expression of a program: a call, an index, an attribute.
_EXPRESSION = r".*[()\[]|[A-Za-z_]+(?:\.[A-Za-z_]+)+$|[{<%]"
_IDENTIFIER = r"[A-Za-z_]+$"
# Ends of names that carry credentials where the value looks like one, and not where it is a word.
ENDS = ("_TOKEN", "_SECRET", "_PAT", "_PWD", "_PASS", "_CREDENTIALS")
_RANDOM = r"(?=[^0-9]*[0-9])(?=[^A-Za-z]*[A-Za-z])[\w+/=.~-]{20,}$"
# The name of a Secret has words: `githubConfigSecret: k8s-homelab-runner-secret`.
_NAME_OF_WORDS = r"(?=(?:.*-)?[a-z]{4,}-(?:.*-)?[a-z]{4,}(?:-|$))[a-z0-9-]+$"


@lru_cache(maxsize=4096)
def forms(text: str) -> tuple[str, ...]:
    """The kinds of secrets in a text, by their form. Most jobs of a set have the same words."""
    return tuple(_forms(text))


def _forms(text: str) -> list[str]:
    return [what for what, pattern in _possible(text) if re.search(pattern, text)]


def _possible(text: str) -> list[tuple[str, str]]:
    """The kinds of which a text has a hint, with their patterns; of nearly every text of thousands of jobs, none."""
    if len(text) < _SHORTEST and "@" not in text:
        return []
    if not _has_hint(text):
        return []
    possible = []
    for what, hints, pattern in _FORMS:
        if any(hint in text for hint in hints):
            possible.append((what, pattern))
    return possible


_HINTS = tuple(hint for _, hints, _ in _FORMS for hint in hints)


def _has_hint(text: str) -> bool:
    """Whether a text, which may be a whole file, has a hint of any. `in` reads ten times as fast as an expression."""
    return any(hint in text for hint in _HINTS)


def named(name: str) -> bool:
    """Whether a variable, an option or a key of this name carries a credential; ``adminPassword`` does too."""
    return _may_carry(name) and _worded(name).endswith(NAMES) and not _refers(name)


# What names the key of a Secret, as charts and Crossplane call it.
_NAMES_A_KEY = (
    r".*_(?:KEY|PASSWORD|TOKEN|SECRET|CONNECTION|CREDENTIALS|USER|USERNAME|ID|PEM)_SECRET_KEY\Z"
)


def _refers(name: str) -> bool:
    """Whether what has this name refers to a Secret: ``existingSecretAdminPassword``, ``apiKeySecretKey``, or an
    annotation like ``cnpg.io/pluginClientSecret`` and ``checksum/secret``."""
    if "/" in name:
        return True
    words = _worded(name)
    return "_EXISTING_SECRET" in words or re.match(_NAMES_A_KEY, words) is not None


# How all of these names end: most names have no such end, and are not looked at any closer.
_LAST = (
    "token",
    "key",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "pat",
    "pwd",
    "pass",
    "credentials",
)


def _may_carry(name: str) -> bool:
    return name.lower().endswith(_LAST)


def may_have_secret(text: str) -> bool:
    """Whether a text has a hint of a token, or of a name that carries a credential: most have none."""
    small = text.lower()
    for word in _LAST:
        if word in small:
            return True
    return _has_hint(text)


def _worded(name: str) -> str:
    """A name in capitals, with ``_`` before each of its words."""
    if not name.isupper():
        name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return f"_{name.replace('-', '_').upper()}"


def literal(value: str) -> bool:
    """Whether a value is literal: no variable, template, path or ARN, and not empty."""
    return re.match(_REFERENCE, value) is None


@lru_cache(maxsize=4096)
def carried(name: str, value: str) -> str:
    """What kind of secret a variable or a key carries; empty for none. Most jobs of a set have the same variables."""
    for what in _forms(value):
        return what
    if not _may_carry(name) or _refers(name):
        return ""
    if named(name):
        stands_for_none = value == name or _is_variable(value) or _is_short_word(name, value)
        return "a secret" if literal(value) and not stands_for_none else ""
    if not _worded(name).endswith(ENDS):
        return ""
    is_random = re.match(_RANDOM, value) and not re.match(_NAME_OF_WORDS, value)
    return "a secret" if is_random else ""


def _is_short_word(name: str, value: str) -> bool:
    """Whether a short word stands where the key of an API is, for a server that asks for none:
    ``OPENAI_API_KEY: local``."""
    is_key = _worded(name).endswith(("_API_KEY", "_APIKEY"))
    return is_key and re.match(r"[A-Za-z-]{1,8}$", value) is not None


def _is_variable(value: str) -> bool:
    """Whether a value is the name of a variable that carries a credential: ``clientSecret: OAUTH_CLIENT_SECRET`` says
    under which key of a Secret it is."""
    return "_" in value and value.isupper() and named(value)


def named_values(text: str) -> list[str]:
    """The names of keys of a text that carry credentials and have a literal value.

    Of a program's text no expression counts: ``api_key=os.environ["API_KEY"]``.
    """
    small = text.lower()
    if not any(part in small for part in _IN_NAMES):
        return []
    if re.search(_ENDED, text.casefold()) is None:
        return []
    names = []
    found = list(re.finditer(_NAMED, text))
    if "ass" in text or "ASS" in text:
        found += re.finditer(_QUOTED, text)
    for assignment in found:
        if _stands_for_itself(assignment):
            start = assignment.start()
            before = re.search(r"\w*$", text[:start])
            beginning = before[0] if before else ""
            length = assignment.start("after") - start
            name = beginning + assignment[0][:length]
            if not _refers(name):
                names.append(name)
    return names


def in_text(text: str) -> str:
    """The first secret of a text of lines: a token by its form, or the value of a key; empty without one."""
    for what in forms(text):
        return what
    for name in named_values(text):
        return f"the value of `{name}`"
    return ""


_NAME_SERVICES = frozenset({"compat", "db", "files", "ldap", "nis", "sss", "systemd", "winbind"})
"""What ``passwd`` is looked up in (nsswitch.conf(5), sssd, winbind)."""


def _stands_for_itself(assignment: re.Match[str]) -> bool:
    value = assignment["value"]
    sign = assignment["sign"]
    if not literal(value) or value.startswith(("{", "<", "%", "!", ".*")):
        return False
    if sign.startswith(":") and value in _NAME_SERVICES:
        return False  # `passwd: files` is a line of nsswitch.conf
    if assignment["quote"]:
        return True
    if re.match(_EXPRESSION, value):
        return False
    start = assignment.start()
    before = assignment.string[:start].rstrip(" ")
    is_argument = before.endswith(("(", ","))
    is_program = assignment["after"] or sign == " = " or is_argument
    if re.match(_IDENTIFIER, value) is None:
        return True
    return not is_program and not _is_prose(assignment)


def _is_prose(assignment: re.Match[str]) -> bool:
    """Whether a sentence follows, as in the documentation of arguments: `api_key: Required (no default)`."""
    after = assignment.string[assignment.end() :]
    is_first_word = assignment["value"].istitle() and re.match(r" +[\w(]", after) is not None
    return is_first_word and assignment["sign"].startswith(":")


def masked(text: str) -> str:
    """The text with ``*`` for each character of a secret, so that columns stay what they are."""
    for _, pattern in _possible(text):
        text = re.sub(pattern, lambda secret: "*" * len(secret[0]), text)
    for pattern in (_HIDDEN, _OPTION):
        text = re.sub(pattern, _hide_value, text)
    return text


def _hide_value(assignment: re.Match[str]) -> str:
    text = assignment[0]
    hidden = "*" * len(assignment["value"])
    start = assignment.start("value") - assignment.start()
    end = start + len(hidden)
    return text[:start] + hidden + text[end:]
