"""The frame of a page: its policy names the style and the script by their hashes."""

import base64
import hashlib
import html
import re

from loganalyst.report.common.html.shell import STYLE, asset, shell

SCRIPT = ("audit", "audit.js")


def digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def test_the_policy_allows_only_its_own_style_and_script():
    """A page without a script allows none."""
    policy = html.unescape(re.search(r'Policy" content="([^"]+)"', shell("t", made="logs", script=SCRIPT))[1])

    assert f"style-src '{digest(asset(*STYLE))}'; script-src '{digest(asset(*SCRIPT))}'" in policy
    assert "script-src 'none'" in html.unescape(shell("t", made="logs"))


def test_the_title_is_escaped():
    """A run cannot end the head with its name."""
    assert "<title>&lt;/title&gt; · loganalyst</title>" in shell("</title>", made="logs")
