"""What webhooks, the API server's code or controllers refuse and no CRD can express: one module a kind.

A module is called like its kind in lowercase, names its API ``GROUP`` and has ``check(body, lookup)``, a generator of
faults. It is found by its name and imported when the first object of its kind is met. The shape of the body is right
when it is called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from importlib import import_module
from pathlib import Path

from trainyard.language.places import Key
from trainyard.output.manifest import Body, group_of
from trainyard.verify.fault import Fault

Lookup = Callable[[str, str, str, str], Body | None]
Check = Callable[[Body, Lookup], Iterator[Fault]]


def check(body: Body, lookup: Lookup) -> list[Fault]:
    """Faults of a body by the module of its kind, if there is one."""
    module = _module(str(body["kind"]).lower())
    if module is None:
        return []
    group, check_kind = module
    if group != group_of(str(body["apiVersion"])):
        return []
    return list(check_kind(body, lookup))


# Fields that a definition requires and the mutating webhook of the kind fills in before that is asked
# (jobset v0.12.0, pkg/webhooks/jobset_webhook.go, Default).
_FILLED_IN = {("jobset.x-k8s.io", "JobSet"): (("spec", "failurePolicy", "rules", "*", "name"),)}


def fills(body: Body, fault: Fault) -> bool:
    """Whether a field that is missing is filled in by the webhook of the kind."""
    if fault.code != "SCH003":
        return False
    kind = (group_of(str(body["apiVersion"])), str(body["kind"]))
    pattern = tuple(map(_key_of_pattern, fault.path))
    return pattern in _FILLED_IN.get(kind, ())


def _key_of_pattern(key: Key) -> Key:
    if isinstance(key, int):
        return "*"
    return key


@lru_cache(maxsize=1)
def modules() -> frozenset[str]:
    """Names of the modules, which are those of the kinds in lowercase."""
    folder = Path(__file__).parent
    paths = folder.glob("[!_]*.py")
    return frozenset(path.stem for path in paths)


@lru_cache(maxsize=256)
def _module(kind: str) -> tuple[str, Check] | None:
    if kind not in modules():
        return None
    module = import_module(f"{__name__}.{kind}")
    return module.GROUP, module.check
