"""Replace the names in a run by aliases. Equal names get equal aliases.

A word of the vocabulary stays; any other word becomes `anona`, `anonb`, ...: `train/acme_loss` becomes
`train/anona_loss`, which is still a training loss. No role and no pattern matches an alias.
"""

import re
from collections import Counter
from collections.abc import Iterable
from string import ascii_lowercase

from loganalyst.anonymous import vocabulary

MAX_NAME_CHARS = 200  # the rest of a name is dropped
MAX_HOSTS = 2000
_UNIT = re.compile(r"[^\W_]+|[\W_]+")  # `val_acc@1` → `val`, `_`, `acc`, `@`, `1`
_NUMBERED = re.compile(r"([a-z]+)(\d{1,3})")  # `layer12`
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")  # `valLoss` → `val`, `Loss`; `valLOSS` → `val`, `LOSS`
_ALIAS = re.compile(r"anon[a-z]+")  # stays when a document is read back
_SEPARATORS = frozenset("/._-: ")  # allowed between two words; others become `_`


class Names:
    """The aliases of one document. `hosts` are names of machines and people in the run."""

    def __init__(self, hosts: Iterable[str] = ()) -> None:
        self._hosts = _hosts_pattern(host for host in hosts if len(host) > 2)
        self._words: dict[str, str] = {}
        self._metrics: dict[str, str] = {}
        self._taken: set[str] = set()
        self._counts_of: Counter[str] = Counter()
        self._numbered: dict[tuple[str, str], str] = {}

    def metric(self, name: str) -> str:
        """The alias of a metric, word by word; different metrics get different aliases."""
        if name not in self._metrics:
            alias = self.words(name)
            while alias in self._taken:
                alias += f"/{self._alias(f'{name}/{alias}')}"
            self._taken.add(alias)
            self._metrics[name] = alias
        return self._metrics[name]

    def metrics(self) -> dict[str, str]:
        """The aliases of all metrics so far, by name."""
        return dict(self._metrics)

    def words(self, name: str) -> str:
        """The alias of a name, word by word. A number stays if it is an index, as in `layers.12`, or short."""
        text = name[:MAX_NAME_CHARS]
        if self._hosts:
            text = self._hosts.sub(lambda found: f" {self._alias(found[0].lower())} ", text)
        units = _UNIT.findall(text)
        aliases = [self._unit(units, i) if unit[0].isalnum() else _separator(unit) for i, unit in enumerate(units)]
        return "".join(aliases).strip()

    def key(self, key: str) -> str | None:
        """The alias of a dotted setting: its known end stays, other parts are replaced. None without a known end."""
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
        """The alias of one word or number of a name."""
        unit = units[i]
        if unit.isdecimal():
            return unit if _is_index(units, i) else self._alias(unit)
        low = unit.lower()
        if low in vocabulary.words() or _ALIAS.fullmatch(low) or any(p.fullmatch(low) for p in vocabulary.languages()):
            return unit
        numbered = _NUMBERED.fullmatch(low)
        if numbered and numbered[1] in vocabulary.allowed("numbered"):
            return unit
        pieces = _PIECE.findall(unit)
        if "".join(pieces) == unit and all(p.lower() in vocabulary.words() for p in pieces):
            return unit
        return self._alias(low)

    def _alias(self, word: str) -> str:
        """The alias of a private word."""
        if word not in self._words:
            self._words[word] = f"anon{_letters(len(self._words))}"
        return self._words[word]


def _is_index(units: list[str], i: int) -> bool:
    """Whether a number is an index: it follows a word such as `layers`, or is short and not next to other numbers."""
    first = last = i  # units alternate between words and separators, hence the steps of 2
    while first >= 2 and units[first - 2].isdecimal():
        first -= 2
    while last + 2 < len(units) and units[last + 2].isdecimal():
        last += 2
    before = units[first - 2].lower() if first >= 2 else ""
    if before in vocabulary.allowed("numbered"):
        return last - first <= 2 and len(units[i]) <= 3
    return first == last and len(units[i]) <= 2


def _hosts_pattern(hosts: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern of all host names, except those that consist of common words only."""
    private = {
        h.lower() for h in hosts if not all(u in vocabulary.words() for u in _UNIT.findall(h.lower()) if u[0].isalnum())
    }
    longest = sorted(private, key=len, reverse=True)[:MAX_HOSTS]
    return re.compile("|".join(map(re.escape, longest)), re.IGNORECASE) if longest else None


def _separator(signs: str) -> str:
    return "".join(sign if sign in _SEPARATORS else "_" for sign in signs[:3])


def _letters(n: int) -> str:
    """`a`, `b`, ..., `z`, `aa`, ...; a digit would look like the index of a layer."""
    return (_letters(n // 26 - 1) if n >= 26 else "") + ascii_lowercase[n % 26]
