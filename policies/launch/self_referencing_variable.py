from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule
from trainyard.judge.policy.world import World


@rule("RUN042", aliases=("variable-of-itself",), pods=True, containers=True, roles=True)
def self_referencing_variable(work: Work, world: World) -> Iterator[Finding]:
    """An environment variable refers to its own previous value, which nothing substitutes.

    No shell reads values of variables: Kubernetes replaces `$(NAME)` of variables that it sets itself, before this one,
    and nothing else (core/v1 EnvVar, value). `PATH: /opt/bin:$PATH` leaves a PATH without the image's programs. The
    batch scripts of a spec have values as Kubernetes has them; a shell reads those of others. In third-party manifests
    a whole `$NAME` is one that somebody fills in (`envsubst`), and is not judged.

    ## Fails

        jobs: [{name: llama, env: {PATH: "/opt/bin:$PATH"}}]

        jobs: [{name: llama, env: {LD_LIBRARY_PATH: "/opt/lib:$(LD_LIBRARY_PATH)"}}]

    ## Passes

        jobs: [{name: llama, env: {LD_LIBRARY_PATH: "/opt/lib:/usr/local/lib"}}]

        apiVersion: v1
        kind: Pod
        metadata: {name: evaluate, namespace: team-a}
        spec:
          containers:
          - name: evaluate
            image: public.ecr.aws/team/train:1.0
            env: [{name: HF_TOKEN, value: $HF_TOKEN}]
            resources: {limits: {nvidia.com/gpu: 1}, requests: {cpu: 4, memory: 16Gi, nvidia.com/gpu: 1}}
    """
    if not work.has_pods and not world.plan.closed:
        return
    for name, value in work.env.items():
        if not value or "$" not in value:
            continue
        if not world.plan.closed and value in (f"${name}", f"${{{name}}}"):
            continue
        escaped = re.escape(name)
        if re.search(rf"\$(?:{escaped}\b|[({{]{escaped}[)}}])", value):
            yield Finding(
                f"`{name}` of {work.title} is set to `{value}`, and nothing substitutes the old value",
                work.where_env(name),
                label="passed unchanged",
                help=f'write the whole value, or `[bash, -c, "export {name}=...; ..."]` as the command',
            )
