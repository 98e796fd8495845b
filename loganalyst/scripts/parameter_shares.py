"""Where the parameters are: embeddings, frozen parameters, parameters missing from the optimiser.

    optimizer = torch.optim.AdamW(model.parameters())
    parameter_shares(model, optimizer)             # once both are complete
    parameter_shares(model, optimizer, depth=3)    # parts in more detail

A parameter that two layers share counts once.
Healthy: embeddings have less than 0.3 of all parameters; a parameter is frozen only on purpose.
Suspicious: embeddings have more than 0.6; a parameter requires gradients but is not in the optimiser (it keeps its
initial value); no parameter is trained.
"""

from collections import Counter
from typing import Any

import torch


def parameter_shares(
    model: torch.nn.Module, optimizer: torch.optim.Optimizer | None = None, depth: int = 2
) -> dict[str, Any]:
    """Number of parameters: total, by part, embeddings, frozen; and the names of those in no group of the optimiser."""
    tables = (torch.nn.Embedding, torch.nn.EmbeddingBag)
    embedding = {id(module.weight) for module in model.modules() if isinstance(module, tables)}
    known = {id(p) for group in optimizer.param_groups for p in group["params"]} if optimizer is not None else None
    parts: Counter[str] = Counter()
    sums = {"total": 0, "embedding": 0, "frozen": 0}
    left_out = []
    for name, parameter in model.named_parameters():
        parts[".".join(name.split(".")[:-1][:depth]) or "(model)"] += parameter.numel()
        sums["total"] += parameter.numel()
        sums["embedding"] += parameter.numel() * (id(parameter) in embedding)
        sums["frozen"] += parameter.numel() * (not parameter.requires_grad)
        if parameter.requires_grad and known is not None and id(parameter) not in known:
            left_out.append(name)
    share = sums["embedding"] / max(sums["total"], 1)
    suspicious = [f"{name} is not in the optimiser" for name in left_out]
    if share > 0.6:
        suspicious.append(f"embeddings have {share:.0%} of the parameters")
    if sums["frozen"] == sums["total"]:
        suspicious.append("nothing is trained")
    print(f"{'part':<48} {'parameters':>14} {'share':>7}")
    for name, count in [*parts.items(), *sums.items()]:
        print(f"{name:<48} {count:>14,} {count / max(sums['total'], 1):>7.1%}")
    print(*(f"suspicious: {text}" for text in suspicious or ["nothing"]), sep="\n")
    return {**sums, "embedding_share": share, "parts": dict(parts), "left_out": left_out, "suspicious": suspicious}
