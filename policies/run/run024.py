from __future__ import annotations

from collections.abc import Iterator

from compiler.policy.rule import Finding, rule
from compiler.policy.work import Work


@rule("RUN024", pods=True)
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
        if value and "$" not in value and f"_{name}".endswith(_CREDENTIALS):
            yield Finding(f"`{name}` of {work.title} has its value in git", work.where_env(name),
                          help="put it into a Secret, and write `valueFrom: {secretKeyRef: {name: …, key: …}}`")


_CREDENTIALS = tuple(f"_{name}" for name in (
    "HF_TOKEN", "HUGGINGFACE_TOKEN", "HUGGING_FACE_TOKEN", "HUGGINGFACE_HUB_TOKEN", "HUGGING_FACE_HUB_TOKEN",
    "AWS_SESSION_TOKEN", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "API_KEY", "PASSWORD", "SECRET_KEY",
))
