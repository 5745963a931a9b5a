"""Reading a page: is it whole, does it stand alone, what does it say."""

from html.parser import HTMLParser

_VOID = {"meta", "input", "br", "hr", "img", "link"}


class Page(HTMLParser):
    """The text of a page, the values of its attributes, and what is wrong with its tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.problems: list[str] = []
        self.words: list[str] = []
        self.outside: list[str] = []
        self.classes: list[str] = []
        self.feed(text)
        self.close()
        self.problems += [f"<{tag}> is not closed" for tag in self.open]
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href") and not (value or "").startswith("#"):
                self.outside.append(f"{tag} {name}={value}")
            if name == "class":
                self.classes += (value or "").split()

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes something else")

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)


def whole_page(text: str) -> Page:
    """Return the page, which has to be well-formed and to need nothing else."""
    page = Page(text)
    assert page.problems == []
    assert page.outside == []
    assert "url(" not in text
    assert "@import" not in text
    return page
