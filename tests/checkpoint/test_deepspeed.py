"""Checkpoints in DeepSpeed's layout. DeepSpeed itself cannot be installed here (it needs CUDA and a compiler): files
are written as its `engine.py` and `zero_to_fp32.py` tell of them, by torch.save, an object of its own class included.
"""

import sys
import types
from collections import OrderedDict
from math import ceil

import pytest
import torch

import loganalyst as la
from loganalyst.checkpoint import deepspeed
from loganalyst.errors import SourceError

WORLD = 3


def model():
    torch.manual_seed(0)
    return OrderedDict(
        {"embed.weight": torch.randn(50, 7), "body.weight": torch.randn(7, 7), "body.bias": torch.randn(7)}
    )


@pytest.fixture
def scaler(monkeypatch):
    """An object of DeepSpeed's class, as it is pickled with the optimiser."""
    name = "deepspeed.runtime.fp16.loss_scaler"
    module = types.ModuleType(name)
    module.DynamicLossScaler = type("DynamicLossScaler", (), {"__module__": name})
    for part in ("deepspeed", "deepspeed.runtime", "deepspeed.runtime.fp16"):
        monkeypatch.setitem(sys.modules, part, types.ModuleType(part))
    monkeypatch.setitem(sys.modules, name, module)
    one = module.DynamicLossScaler()
    one.__dict__.update(cur_scale=0.5, cur_iter=40, dynamic=True)
    return one


def moments(state, seed):
    """Something of the shape of the parameters."""
    generator = torch.Generator().manual_seed(seed)
    return OrderedDict((name, torch.rand(t.shape, generator=generator)) for name, t in state.items())


def states(state):
    """The float32 copy and both moments, by parameter."""
    return {"fp32": state, "exp_avg": moments(state, 1), "exp_avg_sq": moments(state, 2)}


GROUPS = [{"lr": 0.01, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.0, "params": [0]}]


def save_stage_2(folder, state, scaler=None, padded=True):
    """Each parameter group one vector, in stretches of equal length, filled up to 2 * WORLD; lean ones are not."""
    folder.mkdir(parents=True)
    half = OrderedDict((name, t.to(torch.bfloat16)) for name, t in state.items())
    shapes = [OrderedDict((n, t.shape) for n, t in state.items() if len(t.shape) == rank) for rank in (2, 1)]
    whole = {
        "module": half, "buffer_names": [], "optimizer": None, "param_shapes": shapes, "global_steps": 120,
        "lr_scheduler": {"last_batch_iteration": 119}, "ds_version": "0.15.0", "dp_world_size": WORLD,
    }  # fmt: skip
    torch.save(whole, folder / "mp_rank_00_model_states.pt")
    flat = {kind: [_stretches(s, names, padded) for names in shapes] for kind, s in states(state).items()}
    for rank in range(WORLD):
        kinds = ("exp_avg", "exp_avg_sq")
        inner = {g: {"step": torch.tensor(120.0)} | {kind: flat[kind][g][rank] for kind in kinds} for g in range(2)}
        zero = {
            "loss_scaler": scaler, "zero_stage": 2, "partition_count": [WORLD, WORLD],
            "base_optimizer_state": {"state": inner, "param_groups": GROUPS},
            "single_partition_of_fp32_groups": [flat["fp32"][g][rank] for g in range(2)],
        }  # fmt: skip
        torch.save(
            {"optimizer_state_dict": zero, "ds_config": {}},
            folder / f"bf16_zero_pp_rank_{rank}_mp_rank_00_optim_states.pt",
        )
    return folder


def _stretches(state, names, padded):
    vector = torch.cat([state[name].flatten() for name in names])
    length = 2 * WORLD * ceil(len(vector) / (2 * WORLD)) // WORLD
    wide = torch.nn.functional.pad(vector, (0, length * WORLD - len(vector)), value=99.0)
    vector = wide if padded else vector
    return [vector[rank * length : (rank + 1) * length].clone() for rank in range(WORLD)]


def save_stage_3(folder, state):
    """Each parameter in WORLD slices of equal length; the slices of a process one behind the other, in two groups."""
    folder.mkdir(parents=True)
    flat = {}
    for kind, whole in states(state).items():
        pieces = [torch.nn.functional.pad(t.flatten(), (0, -t.numel() % WORLD), value=99.0) for t in whole.values()]
        flat[kind] = [torch.cat([p.chunk(WORLD)[rank] for p in pieces]) for rank in range(WORLD)]
    fragments = torch.arange(float(2 * WORLD))
    for rank in range(WORLD):
        cut = {kind: list(parts[rank].split([100, len(parts[rank]) - 100])) for kind, parts in flat.items()}
        own = {
            "module": OrderedDict((name, torch.empty(0)) for name in [*state, "frozen.weight", "tied.weight"]),
            "param_shapes": [OrderedDict((n, t.shape) for n, t in state.items())],
            "frozen_param_shapes": {"frozen.weight": torch.Size([5])},
            "frozen_param_fragments": {"frozen.weight": fragments[2 * rank : 2 * rank + 2].clone()},
            "shared_params": {"tied.weight": "embed.weight"}, "global_steps": 7,
        }  # fmt: skip
        torch.save(own, folder / f"zero_pp_rank_{rank}_mp_rank_00_model_states.pt")
        kinds = ("exp_avg", "exp_avg_sq")
        inner = {g: {"step": 7} | {kind: cut[kind][g].clone() for kind in kinds} for g in range(2)}
        zero = {
            "zero_stage": 3, "partition_count": WORLD, "fp32_flat_groups": [t.clone() for t in cut["fp32"]],
            "optimizer_state_dict": {"state": inner, "param_groups": GROUPS},
        }  # fmt: skip
        torch.save({"optimizer_state_dict": zero}, folder / f"zero_pp_rank_{rank}_mp_rank_00_optim_states.pt")
    return folder


def agrees(stats, state):
    """Same shapes and numbers, by name."""
    found = {t.name: t for t in stats}
    for name, t in state.items():
        got = found[name]
        assert (got.shape, got.min, got.max) == (tuple(t.shape), float(t.min()), float(t.max()))
        assert got.norm == pytest.approx(float(t.double().norm()), rel=1e-6)


@pytest.mark.parametrize("padded", [True, False])
def test_stage_2_is_the_model_and_the_partitions_put_together(padded, scaler, tmp_path):
    state = model()
    found = la.inspect(save_stage_2(tmp_path / "global_step120", state, scaler, padded))
    (scan,) = found.checkpoints

    assert (scan.format, scan.step, scan.loss_scale, scan.lr) == ("deepspeed", 120, 0.5, (0.01,))
    assert [f.kind for f in found.findings] == ["scale_collapsed", "embedding_share"]
    agrees(scan.tensors, {name: t.to(torch.bfloat16).float() for name, t in state.items()})
    (adam,) = scan.optimizers
    agrees(adam.moments, {f"{name}.{kind}": t for kind, s in states(state).items() for name, t in s.items()})
    assert (adam.step, adam.eps, len(adam.moments)) == (120, 1e-8, 9)


def test_stage_3_has_its_parameters_in_slices(tmp_path):
    state = model()
    (scan,) = la.inspect(save_stage_3(tmp_path / "global_step7", state)).checkpoints

    assert [t.name for t in scan.tensors] == ["frozen.weight", *state, "tied.weight"]
    agrees(scan.tensors, {**state, "frozen.weight": torch.arange(5.0), "tied.weight": state["embed.weight"]})
    agrees(scan.optimizers[0].moments, {f"{n}.exp_avg_sq": t for n, t in moments(state, 2).items()})
    assert scan.tied == (("embed.weight", "tied.weight"),)
    assert scan.parameters == 350 + 49 + 7 + 5


def test_stages_of_one_model_do_not_differ(tmp_path):
    """The float32 copy of stage 2 and the parameters of stage 3 are the same values in the same order."""
    state = OrderedDict((name, t.to(torch.bfloat16).float()) for name, t in model().items())
    found = la.inspect(save_stage_2(tmp_path / "2", state), save_stage_3(tmp_path / "3", state))

    verdicts = {t.name: t.verdict for t in found.changes[0].tensors}
    assert {verdicts[name] for name in state} == {"frozen"}


def test_the_file_latest_names_the_folder_but_none_elsewhere(tmp_path):
    save_stage_2(tmp_path / "run" / "global_step120", model())
    latest = tmp_path / "run" / "latest"
    latest.write_text("global_step120\n")

    assert la.inspect(tmp_path / "run").checkpoints[0].step == 120

    save_stage_2(tmp_path / "other", model())
    latest.write_text("../other")
    with pytest.raises(SourceError, match=r"names a folder elsewhere: '\.\./other'"):
        la.inspect(tmp_path / "run")


def test_a_folder_of_hf_trainer_takes_the_optimiser_from_deepspeed(tmp_path):
    import safetensors.torch

    save_stage_2(tmp_path / "global_step120", model())
    (tmp_path / "latest").write_text("global_step120")
    safetensors.torch.save_file(model(), tmp_path / "model.safetensors")
    torch.save({"python": 1, "numpy": 2, "cpu": torch.get_rng_state()}, tmp_path / "rng_state_0.pth")
    (scan,) = la.inspect(tmp_path).checkpoints

    assert (scan.format, len(scan.tensors), len(scan.optimizers[0].moments)) == ("folder, safetensors", 3, 9)
    assert scan.rng == ("cpu", "numpy", "python")


def test_a_lost_partition_is_named(tmp_path):
    folder = save_stage_2(tmp_path / "x", model())
    (folder / "bf16_zero_pp_rank_1_mp_rank_00_optim_states.pt").unlink()

    with pytest.raises(SourceError, match="has 2 of 3 partitions of the optimiser; that of process 1 is missing"):
        la.inspect(folder)


def test_a_partition_that_is_too_short_is_refused(tmp_path):
    folder = save_stage_3(tmp_path / "x", model())
    path = folder / "zero_pp_rank_2_mp_rank_00_optim_states.pt"
    data = torch.load(path, weights_only=True)
    data["optimizer_state_dict"]["fp32_flat_groups"][1] = torch.ones(3)
    torch.save(data, path)

    with pytest.raises(SourceError, match=r"has \d+ of the \d+ elements of"):
        la.inspect(folder)


def test_code_in_an_optimiser_is_left_out_of_stage_2_and_refuses_stage_3(tmp_path):
    class Own:
        pass

    Own.__qualname__ = Own.__name__ = "Own"
    sys.modules[__name__].Own = Own
    for save, stem in ((save_stage_2, "bf16_zero"), (save_stage_3, "zero")):
        folder = save(tmp_path / save.__name__, model())
        torch.save({"optimizer_state_dict": {"x": Own()}}, folder / f"{stem}_pp_rank_0_mp_rank_00_optim_states.pt")

    found = la.inspect(tmp_path / "save_stage_2")
    assert [f.kind for f in found.findings] == ["embedding_share", "not_read"]
    assert "Own" in found.findings[1].text
    with pytest.raises(SourceError, match="needs code to be read, which is not run"):
        la.inspect(tmp_path / "save_stage_3")


def test_slices_of_the_model_stay_separate(tmp_path):
    """Two tensor-parallel slices: the same names, other values; and layers of a pipeline."""
    for rank in (0, 1):
        torch.save({"module": {"w": torch.full((4,), float(rank))}}, tmp_path / f"mp_rank_0{rank}_model_states.pt")
    torch.save({"norm.weight": torch.ones(2)}, tmp_path / "layer_03-model_00-model_states.pt")
    (scan,) = la.inspect(tmp_path).checkpoints

    assert [(t.name, t.max) for t in scan.tensors] == [
        ("mp_rank_00.w", 0.0), ("mp_rank_01.w", 1.0), ("layer_03.norm.weight", 1.0)
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "groups"),
    [
        ("mp_rank_00_model_states.pt", (None, "00", "model")),
        ("zero_pp_rank_3_mp_rank_01_model_states.pt", ("3", "01", "model")),
        ("bf16_zero_pp_rank_12_mp_rank_00_optim_states.pt", ("12", "00", "optim")),
        ("layer_03-model_00-model_states.pt", None),
    ],
)
def test_the_name_of_a_file_states_process_slice_and_kind(name, groups):
    match = deepspeed.STATE_FILE.fullmatch(name)

    assert (match and match.groups()) == groups
