"""Everything that is generated passes the full upstream CRDs with their CEL rules."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from trainyard.verify import BUILTIN, Schemas
from trainyard.verify.definition_rules import rule_faults
from trainyard.verify.walk import walk

GENERATED = Path(__file__).parents[2] / "generated"
FILES = sorted(path for path in GENERATED.rglob("*.yaml") if path.is_file())


@pytest.mark.slow
@pytest.mark.skipif(not FILES, reason="nothing is generated yet")
def test_generated_objects_pass_the_upstream_crds(full: Schemas) -> None:
    wrong, judged = {}, 0
    for path in FILES:
        for body in yaml.load_all(path.read_text(), Loader=yaml.CSafeLoader):
            if not isinstance(body, dict) or "kind" not in body or "apiVersion" not in body:
                continue
            found = full.find(body["apiVersion"], body["kind"]) or BUILTIN.find(
                body["apiVersion"], body["kind"]
            )
            if found:
                judged += 1
                faults = [*walk(found[0].root, body), *rule_faults(found[0].root, body)]
                if faults:
                    wrong[str(path.relative_to(GENERATED))] = [
                        (fault.path, fault.message) for fault in faults
                    ]
    assert wrong == {}
    assert judged
