"""Faults that people reported to upstream projects, each in a file: what it is said of it, and at which line.

The files say themselves what should be said (``../shared/cases/reports``); they are no part of the repository.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from running import Command

pytestmark = pytest.mark.slow
REPORTS = Path(__file__).parents[3] / "shared" / "cases" / "reports"
SAID = {
    "01-bootstrap-sh": "HLT077",
    "03-prebootstrap-al2023": "HLT077",
    "04-al2023-mixed-mime": "HLT077",
    "05-public-ip-efa": "EFA046",
    "07-role-label": "HLT078",
    "09-instanceprofile-arn": "HLT082",
    "14-startup-taint": "HLT083",
    "18-nat-disabled": "PLC119",
    "19-podidentity-no-agent": "ACC095",
    "21-affinity-gfd": "PLC117",
    "23-registered-label": "PLC117",
    "24-provisioner-name": "PLC117",
    "26-do-not-evict": "HLT079",
    "29-anti-affinity-zone": "PLC118",
    "31-dra-claim": "LIM054",
    "32-provisioning-check": "QUE047",
    "33-lq-default-excluded": "QUE048",
    "34-kueue-drops-toleration": "QUE049",
    "36-istio": "EFA049",
    "37-netpol-deny": "EFA050",
    "38-queue-name-annotation": "QUE046",
    "39-rdzv-random": "RUN190",
    "42-indexed-host": "RUN191",
    "44-jobset-dns-disabled": "RUN191",
    "45-indexed-no-subdomain": "RUN191",
    "49-trainjob-numproc": "RUN011",
    "52-rayjob-no-shutdown": "LIM055",
    "55-podid-link": "EFA047",
    "56-hostnet-dns": "EFA048",
    "58-same-handle": "RUN192",
    "59-pvc-default-class": "RUN193",
    "61-s3csi-no-toleration": "HLT080",
    "64-bottlerocket-plugin": "HLT081",
    "66-timeslice-on-gang": "LIM056",
    "67-timeslice-more-than-one": "LIM056",
    "68-timeslice-renamed": "LIM056",
    "71-efa-chart-old-p6": "EFA051",
    "75-oci-no-type": "RUN194",
    "77-parallelism": "RUN195",
    "79-mpijob-sleep-worker": "RUN196",
    "80-mpijob-sshd-without": "",
    "82-two-containers-gpu": "LIM001",
    "88-spec-values": "LIM056",
}
"""By file the rule that says what is wrong; "" for a file without a fault, of which nothing is said."""
BESIDE = {
    "HLT024": "the version of Kubernetes ends soon",
    "HLT013": "what Karpenter may do to any job without its annotation",
    "QUE009": "a fault of another kind",
    "QUE015": "what a queue that is named elsewhere comes to",
    "RUN019": "the host's network, beside what is wrong with it",
}
"""Codes that come in these files for another reason."""


@pytest.mark.skipif(not REPORTS.is_dir(), reason=f"there is no folder {REPORTS}")
def test_each_report_is_said_at_its_line_and_nothing_else(trainyard: Command) -> None:
    files = sorted(REPORTS.glob("*.yaml"))
    assert {file.stem for file in files} == SAID.keys()
    table = {file.stem: said(trainyard, file) for file in files}
    assert table == {file.stem: wanted(file) for file in files}


def wanted(file: Path) -> list[tuple[str, int]]:
    """The code and the line at which the file wants it to be said."""
    line = re.search(r"(?m)^# LINE: (\d+)", file.read_text())
    assert line is not None
    code = SAID[file.stem]
    return [(code, int(line[1]))] if code else []


def said(trainyard: Command, file: Path) -> list[tuple[str, int]]:
    command = "check" if "trainyard.dev/" in file.read_text() else "lint"
    done = trainyard(command, "--no-cache", "--format", "github", str(file), cwd=file.parent)
    found = re.findall(r"(?m)^::\w+ file=[^,]*,line=(\d+),.*?title=(\w+)::", done.out)
    return [(code, int(line)) for line, code in found if code not in BESIDE]
