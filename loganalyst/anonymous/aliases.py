"""Names of a run as a stranger may read them. The same name is always replaced by the same one.

A word that is in the vocabulary stays, any other becomes `anona`, `anonb`, ...: `train/acme_loss` is read as
`train/anona_loss`, which is still a training loss. Such a word means nothing to any role or pattern.
"""

import re
from collections import Counter
from collections.abc import Iterable
from string import ascii_lowercase

from loganalyst.anonymous import vocabulary

MAX_NAME = 200  # characters of a name that are looked at
MAX_HOSTS = 2000
_UNIT = re.compile(r"[^\W_]+|[\W_]+")
_NUMBERED = re.compile(r"([a-z]+)(\d{1,3})")  # `layer12`
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # of `valLoss`, `valLOSS`
_OURS = re.compile(r"anon[a-z]+")  # what this module made, of which reading makes the same kind again
_KEPT = frozenset("/._-: ")  # what may stand between two words


class Names:
    """The replacements of one document; `hosts` are names of machines and people that the run mentions."""

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        self._hosts = _any_of(host for host in hosts if len(host) > 2)
        self._words: dict[str, str] = {}
        self._metrics: dict[str, str] = {}
        self._taken: set[str] = set()
        self._counts_of: Counter[str] = Counter()
        self._numbered: dict[tuple[str, str], str] = {}

    def metric(self, name: str) -> str:
        """The name of a metric, word by word; two metrics never get one name."""
        if name not in self._metrics:
            told = self.words(name)
            while told in self._taken:
                told += f"/{self._other(f'{name}/{told}')}"
            self._taken.add(told)
            self._metrics[name] = told
        return self._metrics[name]

    def metrics(self) -> dict[str, str]:
        """All metrics that were named, with their names."""
        return dict(self._metrics)

    def words(self, name: str) -> str:
        """A name, word by word. A number stays where it counts the parts of something, and where it is short."""
        text = name[:MAX_NAME]
        if self._hosts:
            text = self._hosts.sub(lambda found: f" {self._other(found[0].lower())} ", text)
        units = _UNIT.findall(text)
        told = [self._unit(units, i) if unit[0].isalnum() else _between(unit) for i, unit in enumerate(units)]
        return "".join(told).strip()

    def key(self, key: str) -> str | None:
        """A dotted setting by its known end, what stands before it word by word; None where no end is known."""
        parts = key.split(".")
        for i in range(max(len(parts) - 2, 0), len(parts)):  # no known end has more than two parts
            end = ".".join(parts[i:]).lower()
            if end in vocabulary.allowed("settings"):
                return ".".join([*(self.words(part) for part in parts[:i]), end])
        return None

    def counted(self, kind: str, name: str) -> str:
        """`file1`, `node2`: the first, second, ... of its kind."""
        if (kind, name) not in self._numbered:
            self._counts_of[kind] += 1
            self._numbered[kind, name] = f"{kind}{self._counts_of[kind]}"
        return self._numbered[kind, name]

    def _unit(self, units: list[str], i: int) -> str:
        """One word or number of a name."""
        unit = units[i]
        if unit.isdecimal():
            return unit if self._counts(units, i) else self._other(unit)
        low = unit.lower()
        if low in vocabulary.words() or _OURS.fullmatch(low) or any(p.fullmatch(low) for p in vocabulary.languages()):
            return unit
        numbered = _NUMBERED.fullmatch(low)
        if numbered and numbered[1] in vocabulary.allowed("numbered"):
            return unit
        pieces = _PIECE.findall(unit)
        if "".join(pieces) == unit and all(p.lower() in vocabulary.words() for p in pieces):
            return unit
        return self._other(low)

    def _counts(self, units: list[str], i: int) -> bool:
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

    def _other(self, word: str) -> str:
        """The word in place of one that nobody else is to read."""
        if word not in self._words:
            self._words[word] = f"anon{_letters(len(self._words))}"
        return self._words[word]


def _any_of(hosts: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern of all names that are more than words which anybody uses."""
    own = {
        h.lower() for h in hosts if not all(u in vocabulary.words() for u in _UNIT.findall(h.lower()) if u[0].isalnum())
    }
    longest = sorted(own, key=len, reverse=True)[:MAX_HOSTS]
    return re.compile("|".join(map(re.escape, longest)), re.IGNORECASE) if longest else None


def _between(signs: str) -> str:
    return "".join(sign if sign in _KEPT else "_" for sign in signs[:3])


def _letters(n: int) -> str:
    """`a`, `b`, ..., `z`, `aa`, ...: no digit, which would be read as the number of a layer."""
    return (_letters(n // 26 - 1) if n >= 26 else "") + ascii_lowercase[n % 26]
