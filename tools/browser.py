"""A browser for the tests of pages: CI installs one, a person is told how."""

import os
import shutil

from tools.checkout import Checkout
from tools.system_packages import Need, advice, choose_manager, try_install

_PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "chrome", "chromium-headless-shell")


def find_browser() -> str | None:
    """Return the program of a browser, if there is one."""
    return next(filter(None, map(shutil.which, _PROGRAMS)), None)


def ensure_browser(checkout: Checkout) -> None:
    """Install a browser where that is possible, in CI alone: nobody asked for it elsewhere."""
    if os.environ.get("CI") == "true" and find_browser() is None:
        try_install(Need.BROWSER, checkout.root)


def browser_advice() -> str:
    """Return what a user does to get a browser."""
    return advice(Need.BROWSER, choose_manager(Need.BROWSER))
