"""Reads values of a Terraform configuration, as far as they are known before it is applied."""

from __future__ import annotations

import re
from typing import Any

from trainyard.lift.reader import Reader

_TO = r"\$\{((?:data\.)?aws_\w+\.[\w-]+)(?:\[[^\]]*\])?\.\w+\}\Z"


def text_at(value: Reader) -> str | None:
    """A text that is known; one with an expression within is, with its `${}`."""
    text = value.value
    if not isinstance(text, str) or _is_expression(text):
        return None
    return text.replace("$${", "${").replace("%%{", "%{")


def _is_expression(text: str) -> bool:
    """Whether an expression is the whole of a text."""
    if not text.startswith("${"):
        return False
    depth = 0
    for brace in re.finditer(r"[{}]", text):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return brace.end() == len(text)
    return True


def name_at(value: Reader) -> str | None:
    """A text, or the address of what it refers to."""
    match = re.match(_TO, value.word())
    if match:
        return match[1]
    return text_at(value)


def several_at(value: Reader) -> list[Reader]:
    """The items of a list; a single value counts as a list of one."""
    if isinstance(value.value, list):
        return value.items()
    return [value] if value else []


def is_filled_in(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return "${" in value.replace("$${", "")
