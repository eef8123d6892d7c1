"""What a cluster is made of: a folder for each capability, found by being here.

A subject has what it needs of these: ``spec`` (how people write it), ``plan`` (nodes: what will exist), ``resolve``
(spec and facts to nodes), ``target`` (nodes to what is written) and ``lift`` (manifests back to nodes). The last two
share nothing, so that what is written is judged by what it says.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType

__all__ = ["parts"]

_HERE = Path(__file__).parent


@cache
def parts(name: str, subjects: tuple[str, ...] | None = None) -> tuple[ModuleType, ...]:
    """The modules of this name (``target``, ``lift``…) of the subjects that have one: of all, or of some in order."""
    modules = _HERE.glob(f"*/{name}.py")
    having = sorted(path.parent.name for path in modules)
    if subjects is not None:
        having = [subject for subject in subjects if subject in having]
    names = [f"{__name__}.{subject}.{name}" for subject in having]
    return tuple(import_module(module) for module in names)
