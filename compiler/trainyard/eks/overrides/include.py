"""The adopter's own objects, in the stages that apply them.

One Kustomization after the controllers: Flux applies CustomResourceDefinitions and Namespaces first and waits for them
(fluxcd/pkg ssa, ApplyAllStaged). No stage of Trainyard waits for it, so a chart that never gets ready stops no
job. Objects of kinds that nothing here defines come after all others are ready: a chart among them is to bring their
definitions, and a Kustomization with a kind that is not there yet applies none of its objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.core.secrets.spec import SecretsSection
from trainyard.eks import addons
from trainyard.eks.flux.stages import stage
from trainyard.eks.overrides.plan import IncludedObject
from trainyard.language.source.include import Included
from trainyard.language.units import Duration
from trainyard.plan import PlanNode
from trainyard.plan.context import Context

FIRST, SECOND = "include", "include-custom"
_ALL = ""  # objects of any kind: no account, and so all rights
_DEFINITION = "CustomResourceDefinition"
_FLUX = ".toolkit.fluxcd.io"


def include(context: Context) -> Iterator[PlanNode]:
    """The objects with their stages; nothing where none are included."""
    if not context.included:
        return
    known = _known_kinds(context)
    folders = set()
    for included in context.included:
        if _is_known(included, known):
            folder = FIRST
        else:
            folder = SECOND
        folders.add(folder)
        yield IncludedObject(at=included.at, file=included.file, folder=folder, body=included.body)
    timeout = Duration.minutes(15)
    decrypted = SecretsSection.of(context.spec).sops is not None
    custom = SECOND in folders
    if FIRST in folders:
        yield stage(
            context,
            FIRST,
            "controllers",
            account=_ALL,
            wait=custom,
            timeout=timeout,
            decrypted=decrypted,
        )
    if custom:
        after = FIRST if FIRST in folders else "controllers"
        yield stage(
            context, SECOND, after, account=_ALL, wait=False, timeout=timeout, decrypted=decrypted
        )


def _known_kinds(context: Context) -> set[str]:
    """The kinds that are defined before: by the components of the cluster, and by included definitions."""
    kinds: set[str] = set()
    for name in addons.used(context):
        kinds.update(context.release.components[name].crds)
    for included in context.included:
        if included.body["kind"] == _DEFINITION:
            kinds.add(_defined(included))
    return kinds


def _defined(definition: Included) -> str:
    """The kind that a CustomResourceDefinition defines, with its group."""
    spec = definition.body.get("spec")
    if not isinstance(spec, dict):
        spec = {}
    names = spec.get("names")
    kind: object = ""
    if isinstance(names, dict):
        kind = names.get("kind")
    return f"{spec.get('group')}/{kind}"


def _is_known(included: Included, known: set[str]) -> bool:
    group, _, _ = included.body["apiVersion"].rpartition("/")
    if "." not in group or group.endswith((".k8s.io", _FLUX)):
        return True  # built in
    kind = included.body["kind"]
    return f"{group}/{kind}" in known
