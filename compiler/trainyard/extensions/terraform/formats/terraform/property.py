"""Values of a module's resources, by the names that AWS has for them."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from typing import Any, Self

from trainyard.core.cloud.plan import AccessPolicy
from trainyard.core.launch.plan import BootScript
from trainyard.extensions.terraform.formats.terraform.spelling import Argument
from trainyard.extensions.terraform.formats.terraform.values import (
    is_filled_in,
    name_at,
    several_at,
    text_at,
)
from trainyard.lift.cloud_property import Beside, Property
from trainyard.lift.launch_templates import decoded, snake
from trainyard.lift.reader import Reader
from trainyard.verify.formats.cloudformation.iam import policy_of

Names = Mapping[str, Argument]
_MADE = "${…}"
_OF_DATA = re.compile(r"\b(data\.aws_(?:ssm_parameter|ami)\.[\w-]+)")
_QUOTED = re.compile(r'\$\{base64encode\(\s*("(?:[^"\\]|\\.)*")\s*\)\}\Z', re.DOTALL)
_HEREDOC = re.compile(
    r"\$\{base64encode\(\s*<<(?P<indented>-?)(?P<end>\w+)\n(?P<text>.*?)\n\s*(?P=end)\s*\)\}\Z",
    re.DOTALL,
)


class ModuleProperty(Property):
    """An argument or a block of a resource, whose ``names`` are those that are not as AWS has them. ``images`` are the
    module's data sources by which it finds some, by their addresses."""

    __slots__ = ("_images", "_names")

    def __init__(
        self,
        value: Reader,
        address: str,
        names: Names,
        images: Mapping[str, Reader],
        beside: Beside | None = None,
    ) -> None:
        super().__init__(value, address, beside)
        self._names = names
        self._images = images

    def made(self) -> Self:
        """A value in its place that is not known."""
        return self.part(Reader(_MADE, self.at))

    def _within(self, name: str) -> list[Property]:
        """An argument, or its block, which may be in a list of one; and what `dynamic` makes of such blocks."""
        argument = self._names.get(name, snake(name))
        if callable(argument):
            return [self.part(argument(self, self.resource))]
        if not argument:
            return [self.part(self)]
        value = self.follow(argument)
        if isinstance(value.value, list) and [type(item) for item in value.value] == [dict]:
            value /= 0
        dynamic = self.follow("dynamic", argument)
        return [self.part(value), *([self.part(dynamic).made()] if dynamic else [])]

    def part(self, value: Reader) -> Self:
        return type(self)(value, self.resource, self._names, self._images)

    def text(self) -> str | None:
        return text_at(self)

    def name(self) -> str | None:
        return name_at(self)

    def is_made(self) -> bool:
        return is_filled_in(self.value)

    def is_filled_in(self) -> bool:
        return _has_expression(self.value) or any(each.is_filled_in() for each in self._more)

    def known_text(self) -> str:
        return re.sub(r"(?<!\$)\$\{[^{}]*\}", "", self.word())

    def policy(self, what: str, name: str | None = None) -> AccessPolicy | None:
        return policy_of(self, what, name)

    def script(self) -> BootScript | None:
        """The text of user data: in base64, or of an expression that puts one into it."""
        given = self.word()
        quoted, heredoc = _QUOTED.match(given), _HEREDOC.match(given)
        if quoted is not None:
            try:
                text = json.loads(quoted[1], strict=False)
            except ValueError:
                return None
        elif heredoc is not None:
            text = textwrap.dedent(heredoc["text"]) if heredoc["indented"] else heredoc["text"]
        else:
            text = decoded(given)
        text = text.replace("$${", "${").replace("%%{", "%{")
        return BootScript(text, self.at) if text else None

    def image(self) -> tuple[str, str]:
        found = _OF_DATA.search(self.word())
        source = self._images.get(found[1]) if found is not None else None
        if source is None:
            return "", ""
        return text_at(source / "name") or "", _name_of_image(source)


def _has_expression(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_expression, value.values()))
    if isinstance(value, list):
        return any(map(_has_expression, value))
    return is_filled_in(value)


def _name_of_image(source: Reader) -> str:
    """The name by which a data source filters images, where it says just one."""
    for block in several_at(source / "filter"):
        values = [text_at(value) for value in several_at(block / "values")]
        if (block / "name").value == "name" and len(values) == 1:
            return values[0] or ""
    return ""
