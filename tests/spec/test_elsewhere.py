"""A key that a platform does not have says what to write instead: by the platform, or by the section of the key."""

from __future__ import annotations

import pytest
from trainyard.language.diagnostics.diagnostic import listed
from trainyard.language.models.models import keys_of
from trainyard.run.language.whole import elsewhere, language
from trainyard.run.platforms import PLATFORMS

KEYS = {
    name: set(keys_of(language(platform).model_fields["spec"].annotation))
    for name, platform in PLATFORMS.items()
}


@pytest.mark.parametrize("name", PLATFORMS)
def test_every_key_of_another_platform_says_what_to_write_instead(name: str) -> None:
    """Its help would only list the keys that there are."""
    others = set().union(*KEYS.values()) - KEYS[name]
    missing = others - PLATFORMS[name].instead.keys() - elsewhere().keys()
    assert not missing, f"{name} does not say what to write instead of {listed(sorted(missing))}"
