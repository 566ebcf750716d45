"""Opens a view of the extension in a real browser, under the policy that the editor gives it.

A page stands for the editor: it has the messages ready, and keeps what the view says. A script
then acts as a person would, and what it finds is read from the page.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

#: What the editor's own page allows (see src/page.ts), and that the page may send the result.
POLICY = "default-src 'none'; style-src file:; script-src 'nonce-x'; img-src data:"
TELLING = "; connect-src http://127.0.0.1:*"
PAGE = """<!DOCTYPE html><html><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<link rel="stylesheet" href="{style}"></head>
<body class="vscode-dark"><main id="view"></main>
<script nonce="x">
const sent = [], faults = [];
addEventListener("error", (event) => faults.push(String(event.message)));
addEventListener("securitypolicyviolation", (event) => faults.push(event.violatedDirective));
function acquireVsCodeApi() {{ return {{ postMessage: (message) => sent.push(message) }}; }}
</script>
<script nonce="x" src="{script}"></script>
<script nonce="x">
const $ = (selector) => document.querySelector(selector);
const $$ = (selector) => [...document.querySelectorAll(selector)];
const pause = (time) => new Promise((resolve) => setTimeout(resolve, time));
const press = (key) => (document.activeElement ?? document.body).dispatchEvent(
  new KeyboardEvent("keydown", {{ key, bubbles: true, cancelable: true }}));
const frame = () => new Promise(requestAnimationFrame);
const say = async (message) => {{
  postMessage(message, "*");
  await pause(60);
  await frame();
  await frame();
}};
(async () => {{
  let found;
  try {{
    await pause(50);
    for (const message of {messages}) await say(message);
    found = await (async () => {{ {act} }})();
  }} catch (error) {{ faults.push(String(error.stack)); }}
  const body = JSON.stringify({{ found, sent, faults }});
  await fetch("{address}", {{ method: "POST", mode: "no-cors", body }});
}})();
</script></body></html>"""

Act = Callable[..., tuple[Any, list[dict[str, Any]]]]


class Listener:
    """Waits on this machine for what a page sends."""

    def __init__(self) -> None:
        self.results: queue.Queue[str] = queue.Queue()
        reported = self.results

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                reported.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def acting(browser: str, dist: Path, media: Path, listener: Listener, folder: Path) -> Act:
    """What opens a view, sends it messages and runs a script in it; it gives what that returns, and
    the messages of the page.
    """

    def run(view: str, messages: list[Any], script: str) -> tuple[Any, list[dict[str, Any]]]:
        page = folder / f"{view}.html"
        parts = {
            "policy": POLICY + TELLING,
            "address": listener.address,
            "style": (media / f"{view}.css").as_uri(),
            "script": (dist / f"{view}.js").as_uri(),
            "messages": json.dumps(messages),
            "act": script,
        }
        page.write_text(PAGE.format(**parts), encoding="utf-8")
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        command += ["--allow-file-access-from-files", "--window-size=800,700"]
        command += [f"--user-data-dir={folder / 'profile'}", page.as_uri()]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        process = subprocess.Popen(command, start_new_session=True, **quiet)
        try:
            result = json.loads(listener.results.get(timeout=60))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert result["faults"] == []
        return result.get("found"), result["sent"]

    return run


def assert_buttons_are_called_by_their_words(act: Act, view: str, messages: list[Any]) -> None:
    """That the accessible name of a button contains the words that it shows."""
    script = """return $$("button").map((each) =>
      [each.textContent, each.getAttribute("aria-label") ?? each.textContent]);"""
    found, _ = act(view, messages, script)
    assert len(found) >= 5
    for words, name in found:
        assert words in name if words.isalpha() else name.isascii(), (words, name)
