from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.files import all_files
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics.secrets import in_text
from trainyard.plan import Plan


@rule("RUN051")
def secret_in_file(plan: Plan) -> Iterator[Finding]:
    """A file of a job has a secret as plain text.

    It is in git, stays in its history, and becomes a ConfigMap, which everybody may read who may read the namespace
    (Kubernetes, good practices for Secrets). Found by the form of tokens, and by the names of keys that carry
    credentials; the value is not printed.

    ## Fails

        jobs: [{name: llama, files: {/workspace/hf.yaml: "token: hf_abcdefghijklmnopqrstuvwxyz"}}]

        jobs: [{name: llama, files: {/workspace/wandb.env: "WANDB_API_KEY=0123456789abcdef0123"}}]

    ## Passes

        jobs: [{name: llama, files: {/workspace/train.yaml: "max_tokens: 8192, pad_token: eos_token"}}]

        jobs: [{name: llama, files: {/workspace/wandb.env: "WANDB_API_KEY=$WANDB_API_KEY"}}]

        jobs: [{name: llama, files: {/workspace/log.py: "client = Client(access_token=hub_token, api_key=a.api_key)"}}]

        jobs: [{name: llama, files: {/workspace/log.py: "api_key = os.environ['WANDB_API_KEY']"}}]
    """
    for name, file in all_files(plan):
        what = in_text(file.text)
        if what:
            yield Finding(
                f"file `{name}` has {what} in git",
                file.at,
                secret=True,
                help=_HELP if file.in_pods else _HELP_OF_SLURM,
            )


_HELP = "put it into a Secret, and mount that under `volumes:`"
_HELP_OF_SLURM = "keep it in AWS Secrets Manager, and have the job read it when it starts"
