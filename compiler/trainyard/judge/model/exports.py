"""The variables that a line of shell sets before it starts a program: ``export NAME=value``, ``NAME=value program``,
and ``-x NAME=value`` of mpirun."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

_PREFIXES = ("NCCL_", "FI_", "RDMAV_", "CUDA_VISIBLE_DEVICES", "NEURON_RT_VISIBLE_CORES")
_SET = (
    r"(?P<how>\bexport[ \t]+)?(?<![^;&|(\s])"
    r"(?P<name>(?:NCCL|FI|RDMAV|CUDA|NEURON)_[A-Z0-9_]+)="
    r"(?P<value>\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|)]*)"
)
_NONE: Mapping[str, str | None] = MappingProxyType({})


@lru_cache(maxsize=8192)
def exported(words: tuple[str, ...]) -> Mapping[str, str | None]:
    """The variables for networks and devices that the words of a command set, by name.

    ``None`` is a value that the shell computes, or one of several. What devices a single program sees is up to that
    program's line: of these only ``export`` counts. Most jobs of a set have the same words.
    """
    assignments = [word for word in words if "=" in word]
    texts = [word for word in assignments if _has_name(word)]
    if not texts:
        return _NONE
    values: dict[str, str | None] = {}
    for text in texts:
        for found in re.finditer(_SET, text):
            name = found["name"]
            value = found["value"].strip("\"'")
            if not name.startswith(_PREFIXES):
                continue
            if "VISIBLE" in name and not found["how"]:
                continue
            is_known = "$" not in value and "`" not in value
            is_other = values.get(name, value) != value
            values[name] = value if is_known and not is_other else None
    return values


def _has_name(word: str) -> bool:
    return any(prefix in word for prefix in _PREFIXES)
