from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.core.launch.plan import Launch
from trainyard.judge.policy.rule import Finding, rule
from trainyard.language.diagnostics import Severity

_INSTALLS = (
    r"\b(?:pip3?|python[0-9.]*\s+-m\s+pip|uv\s+pip|conda|mamba)\s+install\s+(?P<what>[^\n;&|#]+)"
)


@rule("HLT039", severity=Severity.WARNING)
def user_data_installs_packages(launch: Launch) -> Iterator[Finding]:
    """The user data of nodes installs Python packages, which containers do not see.

    A container has the file system of its image, and nothing of its node's (Kubernetes 1.36, images): the program does
    not find the package, and every node takes longer to boot. `intel-extension-for-pytorch`, which tutorials install
    like this, is retired (intel/intel-extension-for-pytorch, issue 867; archived in March 2026).

    ## Fails

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          userData: |
            #!/bin/bash
            dnf install -y python3-pip
            pip install intel-extension-for-pytorch

    ## Passes

        apiVersion: karpenter.k8s.aws/v1
        kind: EC2NodeClass
        spec:
          userData: |
            #!/bin/bash
            dnf install -y nvme-cli
    """
    if not launch.for_nodes:
        return
    for script in launch.scripts:
        if "install" not in script.text:
            continue
        installs = re.search(_INSTALLS, script.text)
        if installs is not None:
            yield Finding(
                f"the user data of {launch.words} installs `{installs['what'].strip()}`, which no container sees",
                script.line_at(installs.start()),
                label="a container has the files of its image",
                help="install it into the image of the jobs",
            )
