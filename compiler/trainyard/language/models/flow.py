"""Formats values as people write them in a spec: YAML on one line."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from trainyard.language.source.scalars import resolve

if TYPE_CHECKING:
    from yaml import SafeDumper


def flow(value: Any) -> str:
    """A value of JSON as YAML on one line, quoted where a YAML 1.1 reader would take a text for something else."""
    import yaml  # only errors and pages need it

    text: str = yaml.dump(
        value,
        Dumper=_dumper(),
        default_flow_style=True,
        sort_keys=False,
        width=1_000_000,
        allow_unicode=True,
    )
    return text.removesuffix("...\n").rstrip("\n")


@cache
def _dumper() -> type[SafeDumper]:
    import yaml

    class Dumper(yaml.SafeDumper):
        """Floats with an exponent, as there are only large ones, like `8.03e+9`; double quotes; and quotes around all
        that our own reader, of YAML 1.2, would take for another value or refuse."""

        def choose_scalar_style(self) -> str:
            style: str = super().choose_scalar_style()
            event: Any = self.event
            if style == "'" and not {'"', "\\"} & set(event.value):
                return '"'
            is_text = event.tag == "tag:yaml.org,2002:str"
            if not style and is_text and resolve(event.value) != event.value:
                return '"'
            return style

    def exponent(dumper: Any, value: float) -> Any:
        return dumper.represent_scalar(
            "tag:yaml.org,2002:float", f"{value:.2e}".replace("e+0", "e+")
        )

    Dumper.add_representer(float, exponent)
    return Dumper
