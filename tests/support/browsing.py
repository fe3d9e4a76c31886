"""Files opened in a real browser, with all that they complain of or ask for."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Pages:
    """Opens files, each as a reader of its own does.

    Attributes:
        complaints: what was logged, raised, or asked for besides the files themselves.
    """

    def __init__(self, browser: Any) -> None:
        self._browser = browser
        self._contexts: list[Any] = []
        self.complaints: list[str] = []

    def open(
        self, path: Path, size: tuple[int, int] = (1200, 900), script: str = "", **reader: Any
    ) -> Any:
        """The page, in a window of that width and height.

        Args:
            script: runs before those of the page.
            reader: what the reader's browser is set to, as ``color_scheme="dark"``.
        """
        width, height = size
        context = self._browser.new_context(viewport={"width": width, "height": height}, **reader)
        self._contexts.append(context)
        context.add_init_script(script)
        page = context.new_page()
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._note(request.url, path.as_uri()))
        page.goto(path.as_uri())
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()

    def _note(self, address: str, own: str) -> None:
        if not address.startswith(("data:", own)):
            self.complaints.append(address)
