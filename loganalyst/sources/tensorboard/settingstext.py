"""Settings that a program logged as text: a JSON object (Hugging Face Trainer) or a table of two columns (CleanRL)."""

import json
import re

from loganalyst.sources.files.flatten import Leaf, TooLargeError, leaves

MAX_TEXT = 4096  # characters kept of a logged text
MAX_SETTINGS = 2_000  # of one text
MAX_PARSED = 1 << 20  # characters of a text that is parsed
_RULE = re.compile(r"\|\s*:?-+:?\s*\|\s*:?-+:?\s*\|")  # `|-|-|`, `| :--- | ---: |`


def settings_in(tag: str, text: str) -> list[tuple[str, Leaf]]:
    """The (key, value) pairs of `text`, which was logged under `tag`.

    Keys of a JSON object are dotted and begin with the tag. Any other text is one setting, cut to MAX_TEXT characters.

    >>> settings_in("args", '{"lr": 0.1}')
    [('args.lr', 0.1)]
    >>> settings_in("hyperparameters", "|param|value|\\n|-|-|\\n|gamma|0.99|")
    [('hyperparameters.gamma', '0.99')]
    >>> settings_in("note", "second try")
    [('note', 'second try')]
    """
    if len(text) > MAX_PARSED:
        return [(tag, text[:MAX_TEXT])]
    found = _of_object(tag, text) or _of_table(tag, text)
    return found or [(tag, text[:MAX_TEXT])]


def _of_object(tag: str, text: str) -> list[tuple[str, Leaf]]:
    if not text.lstrip().startswith("{"):
        return []
    try:
        data = json.loads(text)
        return [(f"{tag}.{key}", value) for key, value in leaves(data, limit=MAX_SETTINGS) if key]
    except (ValueError, RecursionError, TooLargeError):
        return []


def _of_table(tag: str, text: str) -> list[tuple[str, Leaf]]:
    lines = [line.strip() for line in text.strip().splitlines()]
    if not 2 < len(lines) <= MAX_SETTINGS or not _RULE.fullmatch(lines[1]):
        return []
    rows = [line.removeprefix("|").removesuffix("|").split("|", 1) for line in lines[2:]]
    return [(f"{tag}.{name.strip()}", value.strip()) for name, *rest in rows for value in rest if name.strip()]
