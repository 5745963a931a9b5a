"""What an index shows of a package: README with links that lead somewhere, and the addresses.

The links of README lead to files beside it, which an index does not have. With `REPOSITORY_URL`
they lead into that repository. Without it there is no public address, and they are plain text.
"""

import os
import re
from pathlib import Path

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(!?)\[([^]]*)\]\((?!https?:|#)([^)]+)\)")


def described(text: str, repository: str) -> str:
    """Return the text with links into the repository; plain text for them if it is empty."""

    def led(link: re.Match[str]) -> str:
        picture, words, target = link.groups()
        if not repository:
            return "" if picture else words
        return f"{picture}[{words}]({repository}/{'raw' if picture else 'blob'}/main/{target})"

    return _LINK.sub(led, text)


class Described(MetadataHookInterface):
    """Hatch asks it for the fields that pyproject.toml calls dynamic."""

    def update(self, metadata: dict[str, object]) -> None:
        """Add the description and the addresses to the metadata of a package."""
        repository = os.environ.get("REPOSITORY_URL", "").rstrip("/")
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        described_text = described(text, repository)
        metadata["readme"] = {"content-type": "text/markdown", "text": described_text}
        changes = f"{repository}/blob/main/CHANGELOG.md"
        metadata["urls"] = {"Repository": repository, "Changes": changes} if repository else {}
