from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from compiler.manifest import Manifest
from compiler.policy.rule import Finding, rule
from compiler.policy.values import value
from compiler.policy.world import World


@rule("RUN018", kinds=("kustomize.toolkit.fluxcd.io/Kustomization",))
def flux_substitutes_command(manifest: Manifest, world: World) -> Iterator[Finding]:
    """Flux substitutes variables in the command of a job.

    A Kustomization with `postBuild` replaces `${NAME}` in every text, shell lines included; a name that it does not
    know fails the reconciliation (Flux kustomize-controller 1.9, postBuild): the shell of the job never sees its
    variable. With `substituteFrom` any name may be one of Flux', except those that only the pod has.

    ## Fails

        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: jobs, namespace: flux-system}
        spec: {interval: 10m, prune: false, path: ./jobs, sourceRef: {kind: GitRepository, name: flux-system},
               postBuild: {substitute: {CLUSTER: a}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {command: [bash, -c, "torchrun --node-rank=${PET_NODE_RANK} train.py"]}}

    ## Passes

        apiVersion: kustomize.toolkit.fluxcd.io/v1
        kind: Kustomization
        metadata: {name: jobs, namespace: flux-system}
        spec: {interval: 10m, prune: false, path: ./jobs, sourceRef: {kind: GitRepository, name: flux-system},
               postBuild: {substitute: {CLUSTER: a}}}
        ---
        apiVersion: trainer.kubeflow.org/v1alpha1
        kind: TrainJob
        spec: {trainer: {command: [bash, -c, "torchrun --node-rank=$${PET_NODE_RANK} train.py"]}}
    """
    build = value(manifest.body, "spec", "postBuild")
    if not isinstance(build, Mapping) or not (
        build.get("substitute") or build.get("substituteFrom")
    ):
        return
    known = build.get("substitute") or {}
    folder = str(value(manifest.body, "spec", "path") or "")
    off = {each.id for each in world.manifests if _switched_off(each)}
    for work in world.works:
        if (work.job.at and work.job.at[0] in off) or not world.carries(
            folder, work.job
        ):
            continue
        texts = (*work.words, *(each for each in work.env.values() if each))
        names = [
            name
            for text in texts
            for name in _VARIABLE.findall(text)
            if name not in known
            and (
                not build.get("substituteFrom")
                or name in work.env
                or name.startswith("PET_")
            )
        ]
        if names:
            yield Finding(
                f"`${{{names[0]}}}` in job `{work.name}` is replaced by Flux",
                work.where_said(names[0]),
                label=f"`{manifest.ref.name}` substitutes variables",
                help=f"write `$${{{names[0]}}}`, or annotate the job with `{_OFF}: disabled`",
            )


# Not preceded by another dollar sign, which escapes it.
_OFF = "kustomize.toolkit.fluxcd.io/substitute"
_VARIABLE = re.compile(r"(?<!\$)\$\{([A-Za-z_]\w*)")


def _switched_off(manifest: Manifest) -> bool:
    return any(
        value(manifest.body, "metadata", where, _OFF) == "disabled"
        for where in ("annotations", "labels")
    )
