"""A page as a tree that tests ask, by the parser of the standard library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br", "input", "rect", "path", "link", "img"}


@dataclass
class Element:
    """An element with its attributes, and the texts and elements in it."""

    name: str
    attributes: dict[str, str | None]
    parent: Element | None = None
    content: list[Element | str] = field(default_factory=list)

    @property
    def children(self) -> list[Element]:
        """The elements in it."""
        return [each for each in self.content if isinstance(each, Element)]

    def all(self, *names: str) -> Iterator[Element]:
        """The elements of these names below it, in order; without a name all."""
        for child in self.children:
            if not names or child.name in names:
                yield child
            yield from child.all(*names)

    @property
    def text(self) -> str:
        """Its own text and that of everything in it, of attributes nothing."""
        return "".join(each if isinstance(each, str) else each.text for each in self.content)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.here = Element("", {})

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = Element(tag, dict(attrs), self.here)
        assert len(made.attributes) == len(attrs), f"an attribute of <{tag}> twice"
        self.here.content.append(made)
        if tag not in VOID:
            self.here = made

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.here.content.append(Element(tag, dict(attrs), self.here))

    def handle_endtag(self, tag: str) -> None:
        assert self.here.name == tag, f"</{tag}> ends <{self.here.name}>"
        assert self.here.parent is not None
        self.here = self.here.parent

    def handle_data(self, data: str) -> None:
        self.here.content.append(data)


def read(text: str) -> Element:
    """The page, of which every element that starts ends in its place."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    assert reader.here.parent is None, f"<{reader.here.name}> does not end"
    return reader.here
