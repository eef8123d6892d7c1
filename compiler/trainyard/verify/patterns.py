"""Explains schema patterns in words."""

from __future__ import annotations

_QUANTITY = r"(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?"
_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = "[A-Za-z0-9][-A-Za-z0-9_.]*"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_KEY = "the key of a label: letters, digits, `-`, `_` and `.`, a domain and `/` before them if any"
_LABEL_WORDS = "lowercase letters, digits and `-`, a letter or digit at both ends"
# What the patterns of the schemas here mean (CRDs of the releases in data/, as upstream writes them), with an example.
_WORDS: dict[str, tuple[str, str]] = {
    rf"^(\+|-)?{_QUANTITY}$": ("a quantity", "`8`, `500m` or `64Gi`"),
    rf"^((\d{{1,2}}(\.\d{{1,2}})?|100(\.0{{1,2}})?)%||(\+|-)?{_QUANTITY})$": (
        "a quantity or a percentage",
        "`10%` or `8Gi`",
    ),
    r"^(([0-9]+(s|m|h))+|Never)$": ("a duration or `Never`", "`30s`, `10m` or `1h30m`"),
    r"^([0-9]+(s|m|h))+$": ("a duration", "`30s`, `10m` or `1h30m`"),
    r"^([0-9]+(\.[0-9]+)?(ms|s|m))+$": (
        "a duration in minutes, seconds or milliseconds",
        "`90s` or `1m30s`",
    ),
    r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$": ("a duration", "`90s`, `10m` or `1h30m`"),
    r"^((([0-9]+(h|m))|([0-9]+h[0-9]+m))(0s)?)$": (
        "a duration in hours and minutes",
        "`8h` or `1h30m`",
    ),
    r"^((100|[0-9]{1,2})%|[0-9]+)$": ("a number of nodes or a percentage", "`2` or `10%`"),
    r"^\d+(\.\d+)?$": ("a number", "`0.5`"),
    r"^[0-9]{12}$": ("the id of an AWS account, 12 digits", '`"111122223333"`'),
    rf"^{_LABEL}$": (_LABEL_WORDS, "`gpu-pool`"),
    r"^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$": ("letters, digits and `-`, a letter first", "`gpu-pool`"),
    rf"^{_SUBDOMAIN}$": (f"{_LABEL_WORDS}; `.` between parts", "`gpu-pool` or `example.com`"),
    rf"^(({_NAME})?[A-Za-z0-9])?$": (
        "the value of a label: letters, digits, `-`, `_` and `.`",
        "`team-a`",
    ),
    rf"^({_SUBDOMAIN}/)?(({_NAME})?[A-Za-z0-9])$": (_KEY, "`example.com/team`"),
    rf"^({_SUBDOMAIN}(\/))?({_NAME})?[A-Za-z0-9]$": (_KEY, "`example.com/team`"),
    r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly)|@every [^\s]+.*|[^\s]+( [^\s]+){4})$": (
        "a schedule of cron",
        "`0 3 * * *` or `@daily`",
    ),
    r"^.*@.*\.iam\.gserviceaccount\.com$": (
        "the address of a service account of Google Cloud",
        "`reader@team.iam.gserviceaccount.com`",
    ),
    r"^(Memory|HugePages(-[0-9]+[KMG]i)?)?$": (
        "`Memory` or a size of huge pages",
        "`HugePages-2Mi`",
    ),
    r"^([a-zA-Z0-9_\-.\\\/]|\[[0-9]{1,5}\])+$": (
        "a path of keys, with list indices in brackets",
        "`spec.jobs[0]`",
    ),
    r"^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(^(-\d{1,2}(\.\d+)?%)$)|(-100%))$": (
        "a change of a price: a sign, then a number or a percentage",
        "`+0.5` or `-10%`",
    ),
    r"^(@(annually|yearly|monthly|weekly|daily|midnight|hourly))|((.+)\s(.+)\s(.+)\s(.+)\s(.+))$": (
        "a schedule of cron: five fields, or one of its names",
        '`"0 9 * * mon-fri"` or `"@daily"`',
    ),
    r"^((?:[1-9][0-9]{0,3}|[1-4][0-9]{4}|[5][0-8][0-9]{3}|59000)Gi|(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|[6][0-3][0-9]{3}"
    r"|64000)G|([1-9]||[1-5][0-7]|58)Ti|([1-9]||[1-5][0-9]|6[0-3]|64)T)$": (
        "the size of a volume: 1Gi to 59000Gi, or 1Ti to 58Ti",
        "`200Gi`",
    ),
    r"^(http|https|oci)://.*$": (
        "an address that begins with `http://`, `https://` or `oci://`",
        "`oci://ghcr.io/x`",
    ),
    r"^(http|https|ssh)://.*$": (
        "an address that begins with `http://`, `https://` or `ssh://`",
        "`ssh://git@host/x`",
    ),
    r"^oci://.*$": ("an address that begins with `oci://`", "`oci://ghcr.io/x/y`"),
    r"^[^/]*$": ("text without `/`", "`main`"),
    r"^[\-._a-zA-Z0-9]+$": ("letters, digits, `-`, `_` and `.`", "`ca.crt`"),
    r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$": (
        "the reason of a condition: letters, digits, `_`, `,` and `:`, a letter first",
        "`MinimumReplicasAvailable`",
    ),
}
_SHORT = 24
"""Characters of a pattern that are read at a glance."""


def in_words(pattern: str, value: str) -> tuple[str, str]:
    """What is wrong with a value that a pattern refuses, and what to write instead. Short patterns are shown as they
    are; of long ones of third-party schemas just the beginning."""
    if pattern in _WORDS:
        what, example = _WORDS[pattern]
        help = f"write {what}, like {example}"
        return f"`{value}` is not {what}", help
    if len(pattern) <= _SHORT:
        return f"`{value}` does not match `{pattern}`", "write a value of this form"
    return (
        f"`{value}` does not have the form that the field's definition requires",
        f"see the API reference; the pattern begins with `{pattern[:_SHORT]}…`",
    )
