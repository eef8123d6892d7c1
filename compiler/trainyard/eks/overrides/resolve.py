"""Resolves overrides, and reports those that would have no effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.core.secrets.spec import SecretsSection
from trainyard.eks import addons
from trainyard.eks.flux.stages import stage
from trainyard.eks.overrides.plan import IncludedObject, ObjectPatch, Operation
from trainyard.eks.overrides.spec import ChartSignature, Component, OverridesSection, Patch
from trainyard.language.places import Route
from trainyard.language.re2 import PatternError, compile_re2
from trainyard.language.source.include import Included
from trainyard.language.units import Duration
from trainyard.plan import PlanItem
from trainyard.plan.context import SPEC, Context

# The adopter's own objects, in the stages that apply them.
#
# One Kustomization after the controllers: Flux applies CustomResourceDefinitions and Namespaces first and waits for
# them (fluxcd/pkg ssa, ApplyAllStaged). No stage of Trainyard waits for it, so a chart that never gets ready stops no
# job. Objects of kinds that nothing here defines come after all others are ready: a chart among them is to bring their
# definitions, and a Kustomization with a kind that is not there yet applies none of its objects.

FIRST, SECOND = "include", "include-custom"
_ALL = ""  # objects of any kind: no account, and so all rights
_DEFINITION = "CustomResourceDefinition"
_FLUX = ".toolkit.fluxcd.io"


def include(context: Context) -> Iterator[PlanItem]:
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


# Signatures of charts: whether Flux can verify them, and whose they must be.


def has_signer(context: Context, name: str, verify: ChartSignature) -> bool:
    """Whether Flux can check a signature, and whether it is somebody's.

    With cosign and neither keys nor identities every signature counts; notation has no other way than a Secret
    (source-controller v1.10, ocirepository_controller.go).
    """
    at = SPEC / "components" / name / "verify"
    chart = context.release.components[name].chart
    if chart is None or chart.kind != "oci":
        fact = f"`{name}` comes from no OCI registry, so Flux finds no signature of its chart"
        context.fault("RES239", fact, at, "remove it")
        return False
    if verify.secret_ref is None and not (
        verify.provider == "cosign" and verify.match_oidc_identity
    ):
        help = "add `secretRef: {name: …}`, a Secret of `flux-system` with the keys"
        if verify.provider == "cosign":
            help += "; or `matchOIDCIdentity` with who signs"
        fact = f"the signature of `{name}` may be anybody's: neither keys nor a signer are named"
        context.fault("RES239", fact, at, help)
        return False
    if verify.secret_ref is not None and verify.match_oidc_identity:
        fact = f"the chart of `{name}` is checked by keys, and `matchOIDCIdentity` is then not looked at"
        context.fault("RES239", fact, at / "matchOIDCIdentity", "remove one of them")
        return False
    return _are_patterns(context, verify, at / "matchOIDCIdentity")


def _are_patterns(context: Context, verify: ChartSignature, at: Route) -> bool:
    for index, signer in enumerate(verify.match_oidc_identity):
        for key, pattern in (("issuer", signer.issuer), ("subject", signer.subject)):
            try:
                compile_re2(pattern)
            except PatternError as fault:
                fact = f"`{pattern}` is no regular expression: {fault}"
                context.fault(
                    "RES239",
                    fact,
                    at / index / key,
                    "write one of Go, like `^https://github.com/team/.+$`",
                )
                return False
    return True


def resolve(context: Context) -> Iterator[PlanItem]:
    """The patches, and what is included. A component's version and values reach the nodes of who installs it."""
    _check_components(context)
    patches = OverridesSection.of(context.spec).patches
    for index, patch in enumerate(patches):
        yield _patch(patch, SPEC / "patches" / index)
    yield from include(context)


def _patch(patch: Patch, at: Route) -> ObjectPatch:
    target = patch.target
    merge: dict[str, Any] = {}
    operations: tuple[Operation, ...] = ()
    if isinstance(patch.patch, dict):
        merge = patch.patch
    else:
        operations = tuple(
            Operation(operation.op, operation.path, operation.from_ or "", operation.value)
            for operation in patch.patch
        )
    return ObjectPatch(
        at=at,
        kind=target.kind,
        group=target.group,
        version=target.version,
        name=target.name,
        namespace=target.namespace,
        labels=target.label_selector,
        merge=merge,
        operations=operations,
    )


def _check_components(context: Context) -> None:
    used = addons.used(context)
    known = context.release.components
    components = OverridesSection.of(context.spec).components
    for name, component in components.items():
        at = SPEC / "components" / name
        if name not in known:
            continue  # reported with the release
        if component.values and known[name].chart is None:
            help = "remove them; `patches:` changes objects that Trainyard writes"
            if known[name].is_eks_add_on:
                help = f"write them as `platform.eks.addons.{name}.values`"
            fact = f"`{name}` is installed by no chart, so it has no values of one"
            context.fault("RES082", fact, at / "values", help)
        elif not _can_be_taken(context, name, component):
            continue
        elif name not in used:
            context.doubt(
                "RES084",
                f"this cluster has no `{name}`, so what is written for it has no effect",
                at,
                "remove it, unless the spec is shared with a cluster that has it",
            )


def _can_be_taken(context: Context, name: str, component: Component) -> bool:
    """Whether Flux can take a component's chart by what the spec says of its digest and signature."""
    if component.digest is not None and not _is_pinned(context, name):
        return False
    if component.verify is None:
        return True
    from trainyard.eks.overrides.resolve import has_signer  # few charts are checked

    return has_signer(context, name, component.verify)


def _is_pinned(context: Context, name: str) -> bool:
    """Whether the digest of a component's chart can be meant: it is that of one version, in an OCI registry."""
    at = SPEC / "components" / name
    chart = context.release.components[name].chart
    if chart is None or chart.kind != "oci":
        context.fault(
            "RES238",
            f"`{name}` comes from no OCI registry, so there is no digest by which Flux could take it",
            at / "digest",
            "remove it",
        )
        return False
    if OverridesSection.of(context.spec).components[name].version is None:
        version = context.version(name)
        context.fault(
            "RES238",
            f"the digest of `{name}` belongs to a version that is not said: the next release would bring another, "
            "and Flux would still take this chart",
            at / "digest",
            f"add `version: {version}` if it is the digest of that one",
        )
        return False
    return True
