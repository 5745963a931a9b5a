"""What the site is made of: the Markdown of the repository, where it is, and what it links to.

MkDocs calls the hooks. A page has the same place on the site as in the repository, so one link
serves both; and a link that leads nowhere ends the build.
"""

import re
from collections.abc import Iterator
from html import escape, unescape
from pathlib import Path, PurePosixPath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

_ROOT = Path(__file__).resolve().parents[2]
_PAGES = ("*.md", "adapters/README.md", "docs/**/*.md", "tla/**/README.md")
_DRESS = (".css", ".js")
_WIDE = ("docs/verdicts.md",)
"""Pages whose table needs the room of the table of contents."""
_FIRST = ("docs/explore.md", "docs/judge-your-implementation.md")
"""The guides of the two uses of most people: a search puts them before pages that mention more."""
_HEADING = re.compile(r"^# (.+)$", re.MULTILINE)
_BLOCK = re.compile(r'<div class="highlight">(.*?)</div>', re.DOTALL)
_PROMPT = re.compile(r'<span class="gp">\$ ?</span>(.*)')
_TAG = re.compile(r"<[^>]*>")
_LINK = re.compile(r"\[([^]]*)\]\(([^)#: ]+)(#[^)]*)?\)")
_SECTION = re.compile(
    r'<label class="md-nav__title" for="(\w+)">.*?</span>\s*([^<]*?)\s*</label>', re.S
)
_BY_LABEL = re.compile(r'aria-labelledby="(\w+)_label"')
_PART_OF_CONTENTS = re.compile(r'<nav class="md-nav" aria-label="[^"]*">')
_SCROLLS = re.compile(r"<table>|(?<=<pre>)(?:<span></span>)?<code>")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Replace what MkDocs found in its folder by the pages and the files that they link to."""
    for found in [*files]:
        source = Path(found.abs_src_path or "")
        if source.is_relative_to(_ROOT / "docs") and source.suffix not in _DRESS:
            files.remove(found)
    for path in sorted({*_pages(), *_linked()}):
        place = path.relative_to(_ROOT).as_posix()
        files.append(File.generated(config, place, abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Say what the theme asks of a page; lead links to folders to their README, if there is one."""
    del files
    heading = _HEADING.search(markdown)
    if heading is not None:
        page.meta["title"] = heading[1].replace("`", "")
    if config.repo_url:
        page.edit_url = f"{config.repo_url.rstrip('/')}/edit/main/{page.file.src_uri}"
    if page.file.src_uri in _FIRST:
        page.meta["search"] = {"boost": 10}
    if page.file.src_uri in _WIDE:
        page.meta["hide"] = ["toc"]
    folder = _ROOT / PurePosixPath(page.file.src_uri).parent

    def followed(link: re.Match[str]) -> str:
        text, target, place = link[1], link[2].rstrip("/"), link[3] or ""
        if not (folder / target).is_dir():
            return link[0]
        return f"[{text}]({target}/README.md{place})" if _has_page(folder / target) else text

    return _LINK.sub(followed, markdown)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Let the button of a block copy its commands, without prompts and without what they print."""
    del page, config, files

    def copied(block: re.Match[str]) -> str:
        lines = [unescape(_TAG.sub("", line)) for line in _PROMPT.findall(block[1])]
        commands = escape("\n".join(lines))
        begin = f'<div class="highlight" data-copy="{commands}">'
        return begin + block[0].partition(">")[2] if lines else block[0]

    return _BLOCK.sub(copied, html)


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """Name what the theme leaves without a name, and let the keyboard reach whatever scrolls."""
    del page, config
    return _reachable(output)


def on_post_template(output: str, template_name: str, config: MkDocsConfig) -> str:
    """Do the same to the page of an address that leads nowhere."""
    del config
    return _reachable(output) if template_name.endswith(".html") else output


def _reachable(output: str) -> str:
    titles = dict(_SECTION.findall(output))
    named = _BY_LABEL.sub(lambda found: f'aria-label="{titles[found[1]]}"', output)
    # A part of the table of contents is no landmark of its own: names of parts come twice.
    named = _PART_OF_CONTENTS.sub('<nav class="md-nav" role="presentation">', named)
    named = named.replace('role="dialog"', 'role="dialog" aria-label="Search"')
    return _SCROLLS.sub(lambda found: f'{found[0][:-1]} tabindex="0">', named)


def _has_page(folder: Path) -> bool:
    return (folder / "README.md").is_file()


def _pages() -> Iterator[Path]:
    for pattern in _PAGES:
        yield from _ROOT.glob(pattern)


def _linked() -> Iterator[Path]:
    """Yield the files that are no pages: sources, tables, pictures."""
    for page in _pages():
        for link in _LINK.finditer(page.read_text(encoding="utf-8")):
            target = (page.parent / link[2]).resolve()
            if target.is_file() and target.suffix != ".md":
                yield target
