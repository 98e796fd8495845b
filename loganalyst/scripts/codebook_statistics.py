"""How much of a discrete codebook is used.

    codes = torch.cat([model.encode(inputs).flatten() for inputs, _ in loader])    # indices of the chosen entries
    codebook_statistics(codes, model.codebook.weight)                              # entries x dimension
    # residual or grouped quantisers: once for each codebook

Healthy: the perplexity (the number of entries in use if all were used equally) is above 0.3 of the codebook.
Suspicious: a perplexity below 0.1 of the codebook, or below 3 entries. If used and unused entries differ much in
norm, the unused ones are too far away to be chosen. With fewer than ten codes per entry there is no verdict.
"""

from typing import Any

import torch


def codebook_statistics(codes: torch.Tensor, codebook: torch.Tensor) -> dict[str, Any]:
    """Used entries, perplexity and its share of the codebook, share of the most used entry, norms of used and unused.

    Raises ValueError if a code is not an index of the codebook.
    """
    codes, entries = codes.detach().flatten().long().cpu(), codebook.detach().float().cpu()
    size = len(entries)
    if not len(codes) or codes.min() < 0 or codes.max() >= size:
        raise ValueError(f"codes must be indices from 0 to {size - 1}, at least one")
    counts = torch.bincount(codes, minlength=size)
    shares = counts.double() / len(codes)
    used, norms = counts > 0, entries.flatten(1).norm(dim=1)
    perplexity = torch.special.entr(shares).sum().exp().item()
    result = {
        "codes": len(codes),
        "entries": size,
        "used": int(used.sum()),
        "perplexity": perplexity,
        "share": perplexity / size,
        "top_share": shares.max().item(),
        "used_norm": norms[used].mean().item(),
        "unused_norm": norms[~used].mean().item() if not used.all() else None,
    }
    suspicious = []
    if len(codes) < 10 * size:
        print(f"only {len(codes)} codes for {size} entries: ten per entry are needed")
    elif perplexity < 3 or perplexity < 0.1 * size:
        suspicious = [f"{perplexity:.3g} of {size} entries are in use"]
    for name, value in result.items():
        print(f"{name:<12} " + ("-" if value is None else f"{value:>12.6g}"))
    print(*(f"suspicious: {text}" for text in suspicious or ["nothing"]), sep="\n")
    return {**result, "suspicious": suspicious}
