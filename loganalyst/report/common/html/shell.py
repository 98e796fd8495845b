"""The frame of every page: a head with title and policy, a style, and a script, both named by their hashes."""

import base64
import hashlib
from functools import cache
from importlib.resources import files

from loganalyst.report.common.html.element import Child, Html, element

STYLE = ("common.html", "style.css")  # package of loganalyst.report, file
POLICY = (
    "default-src 'none'; style-src '{style}'; script-src '{script}'; img-src data:; base-uri 'none'; form-action 'none'"
)
FOOT = "This page loads nothing and sends nothing."


def shell(
    title: str,
    *body: Child,
    made: str,
    script: tuple[str, str] | None = None,
    style: tuple[tuple[str, str], ...] = (STYLE,),
) -> str:
    """The text of the file. `made` names what the page was made from. `script` (None: no script) and `style` are assets
    as (package, file).
    """
    css, code = "".join(asset(*s) for s in style), asset(*script) if script else ""
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy(css, code)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="generator", content="loganalyst"),
        element("title", f"{title} · loganalyst"),
        element("style", Html(css)),
    )
    foot = element("footer", f"Made by loganalyst from {made} alone. {FOOT}")
    whole = element(
        "html", head, element("body", *body, foot, element("script", Html(code)) if code else None), lang="en"
    )
    return f"<!doctype html>\n{whole}\n"


@cache
def asset(package: str, name: str) -> str:
    """The text of a style or script of the package."""
    return files(f"loganalyst.report.{package}").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    return POLICY.format(style=_hash(style), script=_hash(script) if script else "none")


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
