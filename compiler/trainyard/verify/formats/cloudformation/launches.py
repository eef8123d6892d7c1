"""How templates of CloudFormation spell launch templates of EC2."""

from __future__ import annotations

from typing import Any

from trainyard.core.launch.plan import BootScript
from trainyard.lift.launch_templates import Spelling, decoded
from trainyard.lift.reader import Reader
from trainyard.verify.formats.cloudformation.functions import is_call, text_of
from trainyard.verify.formats.cloudformation.values import flag_at, name_at, text_at, unread_of


def _entries(value: Reader) -> list[Reader]:
    """The blocks of a list, without those that a function gives."""
    return [entry for entry in value.items() if not is_call(entry.value)]


def _script(user_data: Reader) -> BootScript | None:
    """The text of user data, which is in base64, or put into it by a function. What a function fills into it stays
    there as a name in ``${}``."""
    plain = user_data / "Fn::Base64"
    if not plain:
        text = decoded(user_data.word())
        return BootScript(text, user_data.at) if text else None
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


def _is_filled_in(value: Reader) -> bool:
    return bool(unread_of(value=value))


SPELLING = Spelling(
    field=Reader.__truediv__,
    entries=_entries,
    text=text_at,
    name=name_at,
    flag=flag_at,
    filled_in=_is_filled_in,
    script=_script,
    image=lambda image: ("", ""),
)
