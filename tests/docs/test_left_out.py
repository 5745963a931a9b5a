"""docs/sources/left-out.md names what there is."""

import re

from support.checkout import REFERENCE, ROOT


def test_every_name_of_the_second_column_is_in_the_reference() -> None:
    page = (ROOT / "docs" / "sources" / "left-out.md").read_text(encoding="utf-8")
    table = page.split("## Where it is")[1].split("## What is left out")[0]
    cells = [line.split("|")[2] for line in table.splitlines() if line.startswith("| ")][1:]
    names = {name for cell in cells for name in re.findall(r"[A-Za-z_]\w+(?=[`(.=])", cell)}
    code = "\n".join(path.read_text(encoding="utf-8") for path in REFERENCE.rglob("*.py"))
    assert len(names) > 20
    assert {name for name in names if not re.search(rf"\b{name}\b", code)} == set()
