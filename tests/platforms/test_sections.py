"""Every section of the language beside a small cluster of each platform: it is taken or refused, and nothing breaks."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml
from trainyard.language.models.models import inner_model
from trainyard.run.driver import check
from trainyard.run.language.whole import language
from trainyard.run.outcome import Options
from trainyard.run.platforms import PLATFORMS

from tests.platforms.passes import fields_of
from tests.platforms.small import small, without_small


def _cases() -> list[Any]:
    """Each example of each section of each platform."""
    cases = []
    for name, platform in PLATFORMS.items():
        if name in without_small():
            continue
        whole = inner_model(language(platform).model_fields["spec"].annotation)
        assert whole is not None
        for section, field in fields_of(whole).items():
            for number, example in enumerate(field.examples or ()):
                changed = copy.deepcopy(small(platform))
                changed["spec"][section] = example
                cases.append(pytest.param(changed, id=f"{platform.name} {section} {number}"))
    return cases


def test_every_platform_has_a_small_cluster() -> None:
    """`spec()` of `clusters.py` in its folder of tests: without it no guard of all platforms runs over it."""
    assert without_small() == []


@pytest.mark.slow
@pytest.mark.parametrize("data", _cases())
def test_an_example_of_a_section_is_taken_or_refused(data: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "spec.yaml"
    file.write_text(yaml.safe_dump(data), encoding="utf-8")
    outcome = check([file], Options(hold=False))
    assert not [each for each in outcome.all() if each.code.startswith("INT")]
    for each in outcome.all():
        assert each.help, each.message
