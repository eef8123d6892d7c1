"""Pages and scripts, by templates of the subject that writes them."""

from __future__ import annotations

from functools import cache
from typing import Any


def rendered(package: str, name: str, **values: Any) -> str:
    """A template of the folder ``templates`` of a package with these values; one that it has not is an error."""
    text: str = _environment(package).get_template(name).render(**values)
    return text


@cache
def _environment(package: str) -> Any:
    import jinja2

    return jinja2.Environment(
        loader=jinja2.PackageLoader(package, "templates"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - Markdown and shell
    )
