from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics.secrets import forms, named
from compiler.model.command import options
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule
from compiler.source import Route

# Characters of a token; shorter values of `--token` are names and numbers.
_SHORTEST = 16


@rule("RUN024", pods=True)
def secret_in_env(work: Work) -> Iterator[Finding]:
    """A job has a secret as plain text.

    What is written in git is read by everybody who reads git, and stays in its history (Kubernetes, good practices
    for Secrets). Found by the names of variables and options that carry credentials, and by the form of tokens, in
    variables and in the command; the value is not printed.

    ## Fails

        jobs: [{name: llama, env: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyz}}]

        jobs: [{name: llama, env: {MIRROR: "https://me:hunter22@pypi.example/simple"}}]

        jobs: [{name: llama, command: [torchrun, train.py, --hub-token=hf_abcdefghijklmnopqrstuvwxyz]}]

        jobs: [{name: llama, command: [bash, -c, "wandb login --api-key 0123456789abcdef0123 && torchrun train.py"]}]

    ## Passes

        jobs: [{name: llama, env: {HF_HOME: /data/hf, TOKENIZERS_PARALLELISM: "false"}}]

        jobs: [{name: llama, command: [bash, -c, "wandb login --api-key $WANDB_API_KEY && exec torchrun train.py"]}]
    """
    for name, value in work.env.items():
        if value and "$" not in value and (named(name) or forms(value)):
            yield Finding(
                f"`{name}` of {work.title} has its value in git",
                work.where_env(name),
                help="put it into a Secret, and write `valueFrom: {secretKeyRef: {name: …, key: …}}`",
                spec_help=f"put it into a Secret, and write `secrets: [{{env: {name}, secret: …, key: …}}]`",
            )
    what = _in_command(work)
    if what:
        yield Finding(
            f"the command of {work.title} has {what} in git",
            _place(work),
            help="put it into a Secret, take it as a variable, and let the program read that",
        )


def _in_command(work: Work) -> str:
    """What kind of secret the command has; empty without one."""
    for word in work.words:
        for what in forms(word):
            return what
    for name, value in options(work.words):
        if value is None or len(value) < _SHORTEST or "$" in value:
            continue
        if _credential(name):
            return f"the value of `--{name}`"
    return ""


def _credential(name: str) -> bool:
    return named(name) or name in ("token", "auth-token", "hub-token", "access-token")


def _place(work: Work) -> Route:
    """The command or the arguments, whichever has words in the job."""
    own = work.job.command or work.job.args
    node = work.job if own or work.main is None else work.main
    token = any(forms(word) for word in node.args)
    return node.where("args" if token else "command")
