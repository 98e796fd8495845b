"""Replaces the names of a run; the same name always gets the same replacement.

A word of the vocabulary stays; any other becomes `anona`, `anonb`, ...: `train/acme_loss` becomes `train/anona_loss`,
which is still a training loss. No role and no pattern knows such a word.
"""

import re
from collections import Counter
from collections.abc import Iterable
from string import ascii_lowercase

from loganalyst.anonymous import vocabulary

MAX_NAME = 200  # characters of a name that are kept
MAX_HOSTS = 2000  # names in one regular expression, the longest first
_UNIT = re.compile(r"[^\W_]+|[\W_]+")  # a word, or the signs between two: `train`, `/`, `loss`
_NUMBERED = re.compile(r"([a-z]+)(\d{1,3})")  # `layer12`
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # `val` and `Loss` of `valLoss`, `val` and `LOSS` of `valLOSS`
_OURS = re.compile(r"anon[a-z]+")  # a replacement of this module, which must survive a second pass
_KEPT = frozenset("/._-: ")  # signs that may separate words


class Names:
    """The replacements of one document; `hosts` are names of machines and people that occur in the run."""

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        self._hosts = _host_pattern(host for host in hosts if len(host) > 2)
        self._words: dict[str, str] = {}
        self._metrics: dict[str, str] = {}
        self._taken: set[str] = set()
        self._last_number: Counter[str] = Counter()
        self._numbered: dict[tuple[str, str], str] = {}

    def metric(self, name: str) -> str:
        """The replaced name of a metric, word by word; two metrics never get the same name."""
        if name not in self._metrics:
            alias = self.words(name)
            while alias in self._taken:
                alias += f"/{self._alias(f'{name}/{alias}')}"
            self._taken.add(alias)
            self._metrics[name] = alias
        return self._metrics[name]

    def metrics(self) -> dict[str, str]:
        """All metrics so far, with their replaced names."""
        return dict(self._metrics)

    def words(self, name: str) -> str:
        """A name, replaced word by word. A number stays if it counts parts or is short."""
        text = name[:MAX_NAME]
        if self._hosts:
            text = self._hosts.sub(lambda found: f" {self._alias(found[0].lower())} ", text)
        units = _UNIT.findall(text)
        replaced = [self._unit(units, i) if unit[0].isalnum() else _separator(unit) for i, unit in enumerate(units)]
        return "".join(replaced).strip()

    def key(self, key: str) -> str | None:
        """A dotted key with its known end; the rest is replaced word by word. None if no end is known."""
        parts = key.split(".")
        for i in range(max(len(parts) - 2, 0), len(parts)):  # known ends have at most two parts
            end = ".".join(parts[i:]).lower()
            if end in vocabulary.allowed("settings"):
                return ".".join([*(self.words(part) for part in parts[:i]), end])
        return None

    def counted(self, kind: str, name: str) -> str:
        """A numbered name such as `file1` or `node2`, in the order of the calls."""
        if (kind, name) not in self._numbered:
            self._last_number[kind] += 1
            self._numbered[kind, name] = f"{kind}{self._last_number[kind]}"
        return self._numbered[kind, name]

    def _unit(self, units: list[str], i: int) -> str:
        """The replacement of one word or number of a name."""
        unit = units[i]
        if unit.isdecimal():
            return unit if self._is_count(units, i) else self._alias(unit)
        low = unit.lower()
        if low in vocabulary.words() or _OURS.fullmatch(low) or any(p.fullmatch(low) for p in vocabulary.languages()):
            return unit
        numbered = _NUMBERED.fullmatch(low)
        if numbered and numbered[1] in vocabulary.allowed("numbered"):
            return unit
        pieces = _PIECE.findall(unit)
        if "".join(pieces) == unit and all(p.lower() in vocabulary.words() for p in pieces):
            return unit
        return self._alias(low)

    def _is_count(self, units: list[str], i: int) -> bool:
        """Whether a number counts parts: it follows a word that may have one, or is short and alone."""
        first = last = i
        while first >= 2 and units[first - 2].isdecimal():
            first -= 2
        while last + 2 < len(units) and units[last + 2].isdecimal():
            last += 2
        before = units[first - 2].lower() if first >= 2 else ""
        if before in vocabulary.allowed("numbered"):
            return last - first <= 2 and len(units[i]) <= 3
        return first == last and len(units[i]) <= 2

    def _alias(self, word: str) -> str:
        """The replacement of a private word."""
        if word not in self._words:
            self._words[word] = f"anon{_letters(len(self._words))}"
        return self._words[word]


def _host_pattern(hosts: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern of all names that do not consist of common words."""
    private = {
        h.lower() for h in hosts if not all(u in vocabulary.words() for u in _UNIT.findall(h.lower()) if u[0].isalnum())
    }
    longest = sorted(private, key=len, reverse=True)[:MAX_HOSTS]
    return re.compile("|".join(map(re.escape, longest)), re.IGNORECASE) if longest else None


def _separator(signs: str) -> str:
    return "".join(sign if sign in _KEPT else "_" for sign in signs[:3])


def _letters(n: int) -> str:
    """The n-th of `a`, `b`, ..., `z`, `aa`, ... It has no digits, which would look like the number of a layer."""
    return (_letters(n // 26 - 1) if n >= 26 else "") + ascii_lowercase[n % 26]
