from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.diagnostics.secrets import forms, named
from compiler.model.command import options
from compiler.model.work import Work
from compiler.policy.rule import Finding, rule
from compiler.source import Route
from compiler.subjects.jobs.plan import Container

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

        jobs: [{name: llama, initContainers: [{name: fetch, command: [python, fetch.py],
          env: {HF_TOKEN: hf_abcdefghijklmnopqrstuvwxyz}}]}]

        jobs: [{name: llama, initContainers: [{name: fetch, command: [fetch, --token=hf_abcdefghijklmnopqrstuvwxyz]}]}]

    ## Passes

        jobs: [{name: llama, initContainers: [{name: fetch, command: [python, fetch.py], env: {HF_HOME: /cache}}]}]

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
    what = _in_command(work.words)
    if what:
        yield Finding(
            f"the command of {work.title} has {what} in git",
            _place(work),
            help="put it into a Secret, take it as a variable, and let the program read that",
        )
    for container in work.pod.init_containers if work.pod is not None else ():
        yield from _before(work, container)


def _before(work: Work, container: Container) -> Iterator[Finding]:
    """What a container has that runs before the program."""
    whose = f"init container `{container.name}` of {work.title}"
    for index, variable in enumerate(container.env):
        value = variable.value
        if value and "$" not in value and (named(variable.name) or forms(value)):
            yield Finding(
                f"`{variable.name}` of {whose} has its value in git",
                container.where("env") / index,
                help="put it into a Secret, and mount that under `volumes:`",
            )
    what = _in_command((*container.command, *container.args))
    if what:
        token = any(forms(word) for word in container.args)
        yield Finding(
            f"the command of {whose} has {what} in git",
            container.where("args" if token else "command"),
            help="put it into a Secret, mount that under `volumes:`, and let the program read it",
        )


def _in_command(words: Sequence[str]) -> str:
    """What kind of secret a command has; empty without one."""
    for word in words:
        for what in forms(word):
            return what
    for name, value in options(words):
        if value is None or len(value) < _SHORTEST or "$" in value:
            continue
        if _credential(name):
            return f"the value of `--{name}`"
    return ""


def _credential(name: str) -> bool:
    return named(name) or name in ("token", "auth-token", "hub-token", "access-token")


def _place(work: Work) -> Route:
    """The command or the arguments, whichever has words in the job."""
    own = work.command or work.args
    node = work if own or work.main is None else work.main
    token = any(forms(word) for word in node.args)
    return node.where("args" if token else "command")
