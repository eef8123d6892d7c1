from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.extensions.images.built.plan import Step
from trainyard.judge.model.redirections import redirected
from trainyard.judge.policy.rule import Finding, rule


@rule("RUN178")
def requirement_redirected_in_image(step: Step) -> Iterator[Finding]:
    """The shell of a Dockerfile takes the sign in a requirement of pip for a redirection.

    `RUN pip install numpy<2` ends the build: the shell opens the file `2`, which is not there. `RUN pip install
    numba>=0.57` installs any version, and what pip prints goes into the file `=0.57` of the image: a warning. Both
    need quotes (POSIX, Shell Command Language, 2.7 Redirection).

    ## Fails

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN pip install --no-cache-dir numpy<2

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN apt-get update && python3 -m pip install numba>=0.57.1

    ## Passes

        FROM nvcr.io/nvidia/pytorch:24.12-py3@sha256:0000000000000000000000000000000000000000000000000000000000000000
        RUN pip install --no-cache-dir "numpy==1.26.4" 2>&1 > /tmp/pip.log
    """
    if step.instruction != "RUN":
        return
    for command in step.words:
        if not re.search(r"\bpip3? install\b", command):
            continue
        for each in redirected(command):
            yield Finding(
                f"`{step.path}` {each.effect}",
                step.at,
                label="a redirection",
                help=each.help,
                severity=each.severity,
            )
