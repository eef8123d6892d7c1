"""The manifest: an artifact that is one Kubernetes object, with its own ``apiVersion``, ``kind`` and name."""

from __future__ import annotations

import re
from dataclasses import field

from trainyard.language.dataclass import dataclass
from trainyard.output.artifact import Artifact, Body, ObjectRef, group_of, ref_of

__all__ = [
    "Body",
    "Manifest",
    "ObjectRef",
    "group_of",
    "may_have_placeholders",
    "placeholder",
    "placeholders",
    "ref_of",
]

# A variable of a shell is one wherever a name of Kubernetes has no `$`; `<` and `>` compare numbers in expressions.
_PLACEHOLDER = (
    r"\$\{|\$\(|\{\{|(?:\A|[/:@.-])\$[A-Za-z_]\w*(?=\Z|[/:@.-])|<[A-Za-z][\w.-]*(?: [\w.-]+)*>"
    r"|(?<![A-Za-z0-9])PLACEHOLDER(?![a-z0-9])|\A(?:ENC\[AES256_GCM,|ref\+)"
)

_WRITTEN = r"\$\{[^{}]*\}|\$\([^()]*\)|\{\{[^{}]*\}\}|\$\w+|<[A-Za-z][^<>]*>|PLACEHOLDER\w*"


def may_have_placeholders(text: str) -> bool:
    """Whether it pays to look for placeholders in a text, which may be a whole file."""
    is_variable = "$" in text or "{{" in text or "<" in text or "PLACEHOLDER" in text
    return is_variable or "ENC[" in text or "ref+" in text


def placeholder(text: str) -> bool:
    """Whether a value is filled in later, by Flux or a shell (``${NAME}``, ``$NAME``, ``$(command)``), a template
    (``{{ … }}``), ``sed`` (``PLACEHOLDER_NAME``), SOPS (``ENC[…]``), vals (``ref+…``) or a person (``<name>``): what it
    will be is unknown."""
    if not may_have_placeholders(text):
        return False
    return re.search(_PLACEHOLDER, text) is not None


def placeholders(text: str) -> list[str]:
    """What stands in a text for something that is filled in later, as it is written."""
    if not placeholder(text):
        return []
    return re.findall(_WRITTEN, text)


@dataclass(slots=True)
class Manifest(Artifact):
    """One object: body, where it is written, and where it came from.

    ``path`` is relative to the cluster's folder. ``at`` is the spec route of the plan item behind it and
    ``origins`` maps field paths (tuples of keys into ``body``) to spec routes; a field takes the
    origin of its nearest ancestor. ``lists`` are those that stand in the spec item for item. ``key`` tells
    objects of others apart, of which several may have one name, or none. ``choices``: by key at the top of the body,
    all that may ever stand in its list (``output.emit.yaml.with_choices``). ``format`` is Kubernetes' own, or that of
    another tool that reads objects.
    """

    format: str = field(default="kubernetes", kw_only=True)
