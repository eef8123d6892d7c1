"""How modules of Terraform spell launch templates of EC2."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping

from trainyard.core.launch.plan import BootScript
from trainyard.extensions.terraform.formats.terraform.values import (
    flag_at,
    is_filled_in,
    name_at,
    several_at,
    text_at,
)
from trainyard.lift.launch_templates import Spelling, decoded, snake
from trainyard.lift.reader import Reader

IMAGES = ("data.aws_ssm_parameter", "data.aws_ami")
"""The data sources by which a module finds images."""
_OF_DATA = re.compile(r"\b(data\.aws_(?:ssm_parameter|ami)\.[\w-]+)")
_QUOTED = re.compile(r'\$\{base64encode\(\s*("(?:[^"\\]|\\.)*")\s*\)\}\Z', re.DOTALL)
_HEREDOC = re.compile(
    r"\$\{base64encode\(\s*<<(?P<indented>-?)(?P<end>\w+)\n(?P<text>.*?)\n\s*(?P=end)\s*\)\}\Z",
    re.DOTALL,
)


def field_of(body: Reader, name: str) -> Reader:
    """An argument by EC2's name of the field; a block may be in a list of one."""
    inner = body / snake(name)
    if isinstance(inner.value, list) and len(inner.value) == 1 and isinstance(inner.value[0], dict):
        return inner / 0
    return inner


def spelling(images: Mapping[str, Reader]) -> Spelling:
    """The spelling of a module; ``images`` are its data sources by which it finds some, by their addresses."""

    def image(value: Reader) -> tuple[str, str]:
        found = _OF_DATA.search(value.word())
        source = images.get(found[1]) if found is not None else None
        if source is None:
            return "", ""
        return text_at(source / "name") or "", _name_of_image(source)

    return Spelling(
        field=field_of,
        entries=several_at,
        text=text_at,
        name=name_at,
        flag=flag_at,
        filled_in=_is_filled_in,
        script=_script,
        image=image,
    )


def _name_of_image(source: Reader) -> str:
    """The name by which a data source filters images, where it says just one."""
    for block in several_at(source / "filter"):
        values = [text_at(value) for value in several_at(block / "values")]
        if (block / "name").value == "name" and len(values) == 1:
            return values[0] or ""
    return ""


def _is_filled_in(value: Reader) -> bool:
    """Whether an expression is, or is in, a value."""
    inner = value.value
    if isinstance(inner, dict):
        return any(_is_filled_in(entry) for _, entry in value.entries())
    return is_filled_in(inner) or any(map(_is_filled_in, value.items()))


def _script(user_data: Reader) -> BootScript | None:
    """The text of user data: in base64, or of an expression that puts one into it."""
    given = user_data.word()
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
    return BootScript(text, user_data.at) if text else None
