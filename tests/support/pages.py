"""Pages of HTML, read."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"meta", "br"}


class Page(HTMLParser):
    """What a page has of elements; fails where one is not closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())

    def check_it_needs_nothing_else(self) -> None:
        """Assert that it loads nothing and refers to nothing but its own parts, which are named once."""
        assert not {"script", "link", "img", "iframe"} & {tag for tag, _ in self.elements}
        references = [value for _, one in self.elements for key, value in one.items() if "href" in key]
        assert references and all(value is not None and value.startswith("#") for value in references)
        ids = [one["id"] for _, one in self.elements if "id" in one]
        assert ids and len(ids) == len(set(ids))
