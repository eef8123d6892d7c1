from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.values import value_at
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.language.diagnostics import Severity
from trainyard.language.places import Route
from trainyard.output.manifest import Manifest

_KUSTOMIZATION = "Kustomization"
_DENY = "Deny"
_STAGE = "trainyard-"
_INCLUDED = "trainyard-include"
"""Of what specs include, which may be of any kind: Flux applies it with all rights (docs/security.md)."""


@rule(
    "ACC051",
    severity=Severity.WARNING,
    kinds=(
        "kustomize.toolkit.fluxcd.io/Kustomization",
        "admissionregistration.k8s.io/ValidatingAdmissionPolicy",
        "admissionregistration.k8s.io/ValidatingAdmissionPolicyBinding",
    ),
)
def guard_weakened(manifest: Manifest, world: World) -> Iterator[Finding]:
    """A patch takes away what bounds the rights of a part of the cluster.

    Trainyard has each folder applied by an account with the rights for that folder alone, and its
    ValidatingAdmissionPolicies bound agents to their own node (docs/security.md). Another account, or one of Flux' own
    with every right, `failurePolicy: Ignore`, or a binding without `Deny` undoes that in one line.

    ## Fails

        patches: [{target: {kind: Kustomization, name: trainyard-jobs},
          patch: {spec: {serviceAccountName: kustomize-controller}}}]

        patches: [{target: {kind: ValidatingAdmissionPolicyBinding}, patch: {spec: {validationActions: [Audit]}}}]

        patches: [{target: {kind: ValidatingAdmissionPolicy}, patch: {spec: {failurePolicy: Ignore}}}]

    ## Passes

        patches: [{target: {kind: Kustomization, name: trainyard-jobs}, patch: {spec: {interval: 2h}}}]
    """
    if not world.plan.closed or manifest.key:
        return
    spec, kind = ("spec",), manifest.ref.kind
    if kind == _KUSTOMIZATION:
        account = value_at(manifest.body, *spec, "serviceAccountName")
        name, namespace = manifest.ref.name, manifest.ref.namespace
        is_stage = name.startswith(_STAGE) and not name.startswith(_INCLUDED)
        if is_stage and not (account and _is_own(world, str(account), namespace)):
            yield Finding(
                f"`{name}` is applied by `{account or 'the controller'}`, not by its own account",
                Route((manifest.id, *spec, "serviceAccountName" if account else "path")),
                label="with other rights than it needs",
                help="remove the patch",
            )
    elif value_at(manifest.body, *spec, "failurePolicy") == "Ignore":
        yield Finding(
            f"policy `{manifest.ref.name}` lets through what it cannot judge",
            Route((manifest.id, *spec, "failurePolicy")),
            help="remove the patch",
        )
    else:
        actions = value_at(manifest.body, *spec, "validationActions")
        if isinstance(actions, list) and _DENY not in actions:
            yield Finding(
                f"`{manifest.ref.name}` denies nothing that its policy finds",
                Route((manifest.id, *spec, "validationActions")),
                help="remove the patch",
            )


def _is_own(world: World, name: str, namespace: str) -> bool:
    """Whether a service account is one of those that are made for the folders."""
    wanted = ("ServiceAccount", name, namespace)
    return any(
        (other.ref.kind, other.ref.name, other.ref.namespace) == wanted for other in world.manifests
    )
