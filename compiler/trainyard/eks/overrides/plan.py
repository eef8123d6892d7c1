"""Plan items of overrides: patches, and included objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any, ClassVar

from trainyard.language.dataclass import dataclass
from trainyard.plan.base import PlanItem


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation of RFC 6902. ``value`` means nothing for operations that have none."""

    op: str
    path: str
    origin: str = ""
    value: Any = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectPatch(PlanItem):
    """A patch in Kustomize's form: what it is for, and either a mapping to merge or operations.

    ``name`` and ``namespace`` are regular expressions for the whole name; what is ``None`` selects nothing away.
    """

    carried: ClassVar[bool] = False

    kind: str
    group: str | None = None
    version: str | None = None
    name: str | None = None
    namespace: str | None = None
    labels: str | None = None
    merge: Mapping[str, Any] = field(default_factory=dict)
    operations: tuple[Operation, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IncludedObject(PlanItem):
    """An object that the spec includes, as it is written there. ``file`` is where; ``folder`` that of its stage."""

    carried: ClassVar[bool] = False

    file: str
    folder: str
    body: Mapping[str, Any]
