"""Keys whose value is the path of a file that is not YAML, such as requirements or a configuration."""

from __future__ import annotations

from functools import cache

from trainyard.language.source.texts import TextKey
from trainyard.plan.features import Platform, parts
from trainyard.run.platforms import EKS


@cache
def text_keys(platform: Platform = EKS) -> tuple[TextKey, ...]:
    """``TEXTS`` of the subjects' ``spec`` modules."""
    keys: list[TextKey] = []
    for module in parts("spec", platform.features):
        keys += getattr(module, "TEXTS", ())
    return tuple(keys)
