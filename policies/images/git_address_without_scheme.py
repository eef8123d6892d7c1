from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.judge.model.shell import Command, commands_of
from trainyard.judge.policy.rule import Finding, rule
from trainyard.plan import Plan

# Options of `git clone` that are followed by a value (git 2.52, Documentation/git-clone).
_WITH_VALUE = frozenset(
    {
        "-b",
        "--branch",
        "--revision",
        "-o",
        "--origin",
        "-c",
        "--config",
        "-j",
        "--jobs",
        "-u",
        "--upload-pack",
        "--depth",
        "--filter",
        "--reference",
        "--separate-git-dir",
        "--shallow-since",
        "--shallow-exclude",
        "--template",
    }
)
_HOST = (
    r"(?:www\.)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|huggingface\.co"
    r"|git-codecommit\.[a-z0-9-]+\.amazonaws\.com)(?:/|$)"
)


@rule("RUN070")
def git_address_without_scheme(plan: Plan) -> Iterator[Finding]:
    """A job clones from an address without a scheme, which git takes for a folder.

    What has no `://`, and no `:` before its first slash, is a local path (git 2.52, git-clone, "GIT URLS"): git ends
    with `fatal: repository 'github.com/…' does not exist`, and the job with it. Known are the hosts GitHub, GitLab,
    Bitbucket, Codeberg, Hugging Face and CodeCommit.

    ## Fails

        jobs: [{name: llama, initContainers: [{name: code, image: "public.ecr.aws/team/git:1.0",
          command: [bash, -c, "git clone --depth 1 github.com/org/train /code"]}]}]

        apiVersion: batch/v1
        kind: Job
        metadata: {name: evaluate, namespace: team-a}
        spec:
          template:
            spec:
              restartPolicy: Never
              initContainers: [{name: code, image: "public.ecr.aws/team/git:1.0",
                command: [git, clone, --depth, "1", github.com, /code]}]
              containers: [{name: evaluate, image: "public.ecr.aws/team/python:3.12", command: [python, run.py]}]

    ## Passes

        jobs: [{name: llama, command: [bash, -c, "git clone https://github.com/org/train && exec torchrun train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "git clone github.com:org/train.git && exec torchrun train.py"]}]

        jobs: [{name: llama, command: [bash, -c, "git clone -b main /mnt/train.git && exec torchrun train.py"]}]
    """
    for said in plan.once(commands_of):
        address = _cloned(said.words)
        if address and re.match(_HOST, address):
            yield Finding(
                f"{said.title} clones `{address}`, which git takes for a folder",
                said.at,
                label="the repository does not exist",
                help=f"write `https://{address}`",
            )


def _cloned(words: Command) -> str:
    """What `git clone` is given to clone; empty for other commands."""
    if words[:2] != ("git", "clone"):
        return ""
    skip = False
    for word in words[2:]:
        if skip:
            skip = False
        elif word in _WITH_VALUE:
            skip = True
        elif not word.startswith("-"):
            return word
    return ""
