from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("RUN024")
def secret_in_env(work: Work) -> Iterator[Finding]:
    """A job has a secret as plain text.

    What is written in git is read by everybody who reads git, and stays in its history (Kubernetes, good practices
    for Secrets). Told by the names of variables that carry credentials; the value is not printed.

    ## Fails

        jobs: [{name: llama, env: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyz}}]

    ## Passes

        jobs: [{name: llama, env: {HF_HOME: /data/hf, TOKENIZERS_PARALLELISM: "false"}}]
    """
    for name, value in work.env.items():
        if value and "$" not in value and _CREDENTIAL.search(name):
            yield Finding(f"`{name}` of job `{work.name}` has its value in git", work.where_env(name),
                          help="put it into a Secret, and write `valueFrom: {secretKeyRef: {name: …, key: …}}`")


_CREDENTIAL = re.compile(
    r"(^|_)(HF_TOKEN|HUGGING_?FACE_(HUB_)?TOKEN|AWS_SESSION_TOKEN|AWS_SECRET_ACCESS_KEY|GITHUB_TOKEN|API_KEY|PASSWORD|"
    r"SECRET_KEY)$")
