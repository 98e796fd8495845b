"""The parameters of a transformer, worked out from the sizes in its config."""

import re
from dataclasses import dataclass

# the size in the name of a model: `7b` of llama-7b, `0.5b` of qwen2.5-0.5b, `350m` of opt-350m; not `4bit`, not 8x7b
_IN_NAME = re.compile(r"(?<![a-z0-9.])([0-9]{1,4}(?:\.[0-9]{1,3})?)(b|m)(?![a-z0-9])")
_UNIT = {"b": 1e9, "m": 1e6}


@dataclass(frozen=True)
class Sizes:
    """The sizes of a decoder or an encoder.

    `inner` is the width of the feed-forward layer (None: four times the width), `positions` the number of learned
    positions (0: none).
    """

    vocabulary: float
    width: float
    layers: float
    inner: float | None = None
    heads: float | None = None
    kv_heads: float | None = None
    head_width: float | None = None
    gated: bool = False
    tied: bool = True
    positions: float = 0.0
    experts: float = 1.0

    @property
    def embedding(self) -> float:
        """The token embedding, and the output layer if it has weights of its own."""
        return self.vocabulary * self.width * (1 if self.tied else 2)

    @property
    def parameters(self) -> float:
        """All matrices. Biases and norms, which are below 1 %, are left out.

        >>> round(Sizes(50257, 768, 12, positions=1024).parameters / 1e6)  # GPT-2: 124 million
        124
        >>> round(Sizes(32000, 4096, 32, 11008, gated=True, tied=False).parameters / 1e8) / 10  # Llama 7B: 6.7
        6.7
        """
        heads = self.heads or 1.0
        each = self.head_width or self.width / heads
        queries, keys = heads * each, (self.kv_heads or heads) * each
        attention = 2 * self.width * queries + 2 * self.width * keys
        forward = (3 if self.gated else 2) * self.width * (self.inner or 4 * self.width) * self.experts
        return self.embedding + self.positions * self.width + self.layers * (attention + forward)


def named(name: str | None) -> float | None:
    """The number of parameters that the name of a model states; None where it states none, or several.

    >>> named("Qwen/Qwen2.5-0.5B-Instruct"), named("bert-base-uncased"), named("llama-7b-4bit")
    (500000000.0, None, 7000000000.0)
    """
    last = (name or "").lower().rstrip("/").rsplit("/", 1)[-1]
    found = {float(number) * _UNIT[unit] for number, unit in _IN_NAME.findall(last)}
    return found.pop() if len(found) == 1 else None
