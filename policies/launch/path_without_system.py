from __future__ import annotations

from collections.abc import Iterator

from trainyard.judge.model.work import Work
from trainyard.judge.policy.rule import Finding, rule

_SYSTEM = {"/bin", "/usr/bin", "/usr/local/bin"}


@rule("RUN126", pods=True, containers=True, roles=True)
def path_without_system(work: Work) -> Iterator[Finding]:
    """`PATH` of a job replaces that of the image, and has none of the folders in which programs are.

    A variable of a container takes the place of the image's, whole (core/v1 EnvVar); no shell adds to it. Programs
    are then found by their whole path alone: neither `bash` nor `python` starts, and scripts fail in their first line.

    ## Fails

        jobs: [{name: llama, env: {PATH: /app/bin}}]

    ## Passes

        jobs: [{name: llama, env: {PATH: "/app/bin:/usr/local/bin:/usr/bin:/bin"}}]
    """
    value = work.env.get("PATH")
    if not value or "$" in value:
        return  # RUN042 speaks of what refers to itself
    folders = {folder.rstrip("/") for folder in value.split(":")}
    if folders & _SYSTEM:
        return
    yield Finding(
        f"`PATH` of {work.title} is `{value}` alone",
        work.where_env("PATH"),
        label="hides the programs of the image",
        help=f"write `{value}:/usr/local/bin:/usr/bin:/bin`, and the image's own folders",
    )
