from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from trainyard.judge.model.values import value_at
from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World
from trainyard.output.manifest import Manifest


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

        # as the first that fails, but
        kind: TrainJob
        spec: {trainer: {command: [bash, -c, "torchrun --node-rank=$${PET_NODE_RANK} train.py"]}}
    """
    build = value_at(manifest.body, "spec", "postBuild")
    if not isinstance(build, Mapping) or not (
        build.get("substitute") or build.get("substituteFrom")
    ):
        return
    known = build.get("substitute") or {}
    folder = str(value_at(manifest.body, "spec", "path") or "")
    off = {other.id for other in world.manifests if _switched_off(other)}
    for work in (*world.programs, *world.containers_beside):
        if work.at and work.at[0] in off:
            continue
        if not world.carries(folder, work.at):
            continue
        names = [name for name in _variables(work) if name not in known]
        if build.get("substituteFrom"):
            names = [name for name in names if _of_the_pod(name, work)]
        if names:
            yield Finding(
                f"`${{{names[0]}}}` in {work.title} is replaced by Flux",
                work.where_said(names[0]),
                label=f"`{manifest.ref.name}` substitutes variables",
                help=f"write `$${{{names[0]}}}`, or annotate the job with `{_OFF}: disabled`",
            )


def _variables(work: Work) -> list[str]:
    """The variables that a job's command and environment refer to as ``${NAME}``."""
    said = [name for name in work.env if not work.is_of_image(name)]
    values = [work.env[name] or "" for name in said]
    return re.findall(_VARIABLE, "\n".join([*work.words, *values]))


def _of_the_pod(name: str, work: Work) -> bool:
    """Whether only the pod has a variable, so that no ConfigMap of Flux gives it."""
    return name in work.env or name.startswith("PET_")


# Not preceded by another dollar sign, which escapes it.
_OFF = "kustomize.toolkit.fluxcd.io/substitute"
_VARIABLE = r"(?<!\$)\$\{([A-Za-z_]\w*)"


def _switched_off(manifest: Manifest) -> bool:
    return any(
        value_at(manifest.body, "metadata", where, _OFF) == "disabled"
        for where in ("annotations", "labels")
    )
