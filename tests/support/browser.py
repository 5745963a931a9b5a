"""A real browser, without a window; tests that need one are left out where there is none."""

import base64
import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tools.system_packages import Need, advice, choose_manager, find_browser

_LOOK = """
<script src="{axe}"></script>
<script>{{
const told = (node) => `${{node.html.slice(0, 150)}} ${{node.any[0]?.message ?? ""}}`;
document.querySelectorAll("details").forEach((section) => {{ section.open = true; }});
axe.run({{iframes: false, resultTypes: ["violations"]}}).then((found) => parent.postMessage({{
  place: location.search, wide: document.documentElement.scrollWidth,
  problems: found.violations.flatMap((rule) =>
    rule.nodes.map((node) => `${{rule.id}}: ${{told(node)}}`)),
}}, "*"));
}}</script></body>"""
_ALL = """<!doctype html><body><pre></pre><script>
const frames = {frames}, seen = [], shown = document.querySelector("pre");
const next = () => {{
  document.querySelector("iframe")?.remove();
  const frame = document.createElement("iframe"), [place, width] = frames[seen.length];
  Object.assign(frame, {{ width, height: 900, src: place }});
  document.body.append(frame);
}};
addEventListener("message", (event) => {{
  seen.push(event.data);
  if (seen.length < frames.length) return next();
  const text = btoa(unescape(encodeURIComponent(JSON.stringify(seen))));
  shown.textContent = `seen${{text}}end`;
}});
next();
</script></body>"""

_MOVED = """<!doctype html><body><pre></pre>
<iframe src="{page}" width="{width}" height="900"></iframe>
<script>
const frame = document.querySelector("iframe"), page = () => frame.contentDocument;
const part = (id) => page().getElementById(id), text = (id) => part(id).textContent;
const until = (test) => new Promise((done) => {{
  const timer = setInterval(() => {{ if (test()) {{ clearInterval(timer); done(); }} }}, 50);
}});
const whole = (selector) =>
  until(() => page().readyState === "complete" && page().querySelector(selector));
const press = (selector) => page().querySelector(selector).click();
(async () => {{ {script} }})().catch((error) => String(error)).then((told) => {{
  const seen = btoa(unescape(encodeURIComponent(JSON.stringify(told))));
  document.querySelector("pre").textContent = `seen${{seen}}end`;
}});
</script></body>"""


def browser() -> str:
    """Return the program of a browser; without one leave the test out.

    `make test` and `make test-long` have tried to install one in CI by then, and said why not.
    """
    found = find_browser()
    if found is not None:
        return found
    how = advice(Need.BROWSER, choose_manager(Need.BROWSER))
    pytest.skip(f"pages are tested in a browser, and there is none; {how}")


def dump_dom(address: str, profile: Path, *options: str) -> str:
    """Return what the browser made of a page."""
    quiet = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
    still = ("--disable-background-networking", "--disable-component-update", "--disable-sync")
    done = subprocess.run(
        [browser(), *quiet, *still, f"--user-data-dir={profile}", *options, "--dump-dom", address],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@dataclass(frozen=True, slots=True)
class Looked:
    """A page at a width: how wide its content is, and what axe finds that shuts somebody out."""

    page: str
    width: int
    content: int
    problems: tuple[str, ...]


def look_at(
    pages: Mapping[str, str], widths: tuple[int, ...], folder: Path, *, dark: bool
) -> list[Looked]:
    """Show each page at each width, light or dark, and let axe look at it.

    One browser shows them one after another, so any number of pages takes the memory of one.
    """
    axe = files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8")
    (folder / "axe.js").write_text(axe, encoding="utf-8")
    frames: list[tuple[str, int]] = []
    for name, page in pages.items():
        file = folder / f"{name}.html"
        look = _LOOK.format(axe=(folder / "axe.js").as_uri())
        file.write_text(page.replace("</body>", look), encoding="utf-8")
        frames += [(f"{name}.html?{name}-{width}", width) for width in widths]
    everything = folder / "all.html"
    everything.write_text(_ALL.format(frames=json.dumps(frames)))
    scheme = f"--blink-settings=preferredColorScheme={0 if dark else 1}"
    options = (scheme, "--allow-file-access-from-files", "--virtual-time-budget=2000000")
    told = re.search("seen([^<]+)end<", dump_dom(everything.as_uri(), folder / "profile", *options))
    assert told is not None, "the browser has not told of every page"
    return [_looked(seen) for seen in json.loads(base64.b64decode(told[1]))]


def move(page: Path, script: str, profile: Path, width: int = 1280) -> Any:
    """Return what a script returns that moves a page by `press`, and reads it by `text`.

    The browser's clock is its own: what waits for time or for another page does not really wait.
    """
    shown = page.with_name("moved.html")
    shown.write_text(_MOVED.format(page=page.name, width=width, script=script), encoding="utf-8")
    options = ("--allow-file-access-from-files", "--virtual-time-budget=200000")
    told = re.search("seen([^<]+)end<", dump_dom(shown.as_uri(), profile, *options))
    assert told is not None, "the script has not come to its end"
    return json.loads(base64.b64decode(told[1]))


def _looked(seen: Mapping[str, Any]) -> Looked:
    page, _, width = seen["place"].removeprefix("?").rpartition("-")
    return Looked(page, int(width), seen["wide"], tuple(seen["problems"]))
