"""Values of a template, as far as they are known before it is deployed."""

from __future__ import annotations

import re
from typing import Any, Self

from trainyard.core.cloud.plan import AccessPolicy
from trainyard.core.launch.plan import BootScript
from trainyard.lift.cloud_property import Property
from trainyard.lift.launch_templates import decoded
from trainyard.lift.reader import Reader
from trainyard.verify.formats.cloudformation.functions import (
    is_call,
    is_filled_in,
    name_of,
    text_of,
)
from trainyard.verify.formats.cloudformation.iam import policy_of


class TemplateProperty(Property):
    """A property of a resource in a template, which calls everything as AWS does."""

    __slots__ = ()

    def _within(self, name: str) -> list[Property]:
        return [self.inside(name)]

    def part(self, value: Reader) -> Self:
        return type(self)(value, self.resource)

    def text(self) -> str | None:
        return text_of(self.value)

    def name(self) -> str | None:
        return name_of(self.value)

    def is_made(self) -> bool:
        return is_call(self.value)

    def is_filled_in(self) -> bool:
        return is_filled_in(self.value)

    def known_text(self) -> str:
        """The text; that of ``Fn::Sub`` without what is put into it."""
        text = text_of(self.value) or ""
        return re.sub(r"\$\{[^}]*\}?", "", text) if self.is_made() else text

    def policy(self, what: str, name: str | None = None) -> AccessPolicy | None:
        return policy_of(self, what, name)

    def script(self) -> BootScript | None:
        """The text of user data, which is in base64, or put into it by a function. What a function fills into it stays
        there as a name in ``${}``."""
        plain = self.follow("Fn::Base64")
        if not plain:
            text = decoded(self.word())
            return BootScript(text, self.at) if text else None
        substituted = plain / "Fn::Sub"
        listed = substituted / 0
        at = listed if listed.text() is not None else substituted or plain
        text = text_of(plain.value) or _together(plain / "Fn::Join") or ""
        if substituted:
            text = text.replace("${!", "${")
        return BootScript(text, at.at) if text else None


def _together(call: Reader) -> str | None:
    """The text that ``Fn::Join`` makes of a list."""
    separator, parts = (call / 0).text(), (call / 1).value
    if separator is None or not isinstance(parts, list):
        return None
    return separator.join(map(_part, parts))


def _part(value: Any) -> str:
    text = text_of(value)
    return text if text is not None else "${…}"
