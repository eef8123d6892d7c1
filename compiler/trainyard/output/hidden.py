"""Values as they may be shown: without credentials, which people put into fields by hand."""

from __future__ import annotations

from typing import Any

from trainyard.language.diagnostics.secrets import carried, masked
from trainyard.output.fields import Item, Steps

_HIDDEN = "***"


def hidden(value: Any, steps: Steps) -> Any:
    """The value of a field; a credential in it, by its form or the name of its variable or key, is hidden."""
    return _hidden(value, _name(steps))


def _name(steps: Steps) -> str:
    """The name of a field, and of the variable whose value it is."""
    if len(steps) > 1 and steps[-1] == "value" and isinstance(steps[-2], Item):
        return str(steps[-2].value)
    last = steps[-1] if steps else ""
    return last if isinstance(last, str) else ""


def _hidden(value: Any, name: str) -> Any:
    if isinstance(value, str):
        if carried(name, value):
            return _HIDDEN
        return masked(value)
    if isinstance(value, list):
        return [_hidden(each, name) for each in value]
    if isinstance(value, dict):
        variable = str(value.get("name", ""))
        return {
            key: _hidden(each, variable if key == "value" and variable else str(key))
            for key, each in value.items()
        }
    return value
