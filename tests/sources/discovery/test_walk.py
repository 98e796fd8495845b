"""The walk of a tree; the layouts of trainers and loggers are in test_layouts.py."""

from pathlib import Path

from loganalyst.sources.discovery.walk import walk

LOSSES = "".join(f"epoch {i} loss {1 / (i + 1):.2f}\n" for i in range(6))


def roots(root: Path) -> list[str]:
    return [str(Path(found.root).relative_to(root)) for found in walk(str(root), set())]


def write(root: Path, **files: str) -> Path:
    for name, text in files.items():
        file = root / name.replace("__", "/").replace("_dot_", ".")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return root


def test_a_single_run_belongs_to_the_folder_with_checkpoints(tmp_path: Path) -> None:
    write(tmp_path, inner__metrics_dot_csv="x", last_dot_ckpt="x")

    assert roots(tmp_path) == ["."]


def test_two_runs_are_runs_of_their_own(tmp_path: Path) -> None:
    """The log of their folder is a third one, after them."""
    write(tmp_path, b__metrics_dot_csv="x", a__metrics_dot_csv="x", train_dot_log="x")

    assert roots(tmp_path) == ["a", "b", "."]


def test_a_text_is_a_run_if_it_shows_training(tmp_path: Path) -> None:
    write(tmp_path, a__diary_dot_txt=LOSSES, b__diary_dot_txt="epoch 1 loss 0.5\n" * 4)

    assert roots(tmp_path) == ["a/diary.txt"]


def test_a_table_of_any_name_is_a_run_if_it_holds_metrics(tmp_path: Path) -> None:
    write(tmp_path, a__x_dot_csv="step,loss\n0,1\n1,0.5\n", b__x_dot_csv="name,city\nann,rome\n")

    assert roots(tmp_path) == ["a"]


def test_logs_of_several_jobs_are_several_runs(tmp_path: Path) -> None:
    write(tmp_path)
    for name in ("slurm-1.out", "slurm-1.err", "slurm-2.out"):
        (tmp_path / name).write_text("x")
    found = list(walk(str(tmp_path), set()))

    assert [(Path(run.root).name, len(run.group.logs), run.log) for run in found] == [
        ("slurm-1.out", 2, True),
        ("slurm-2.out", 1, True),
    ]


def test_the_folder_of_an_adapter_belongs_to_the_only_run_beside_it(tmp_path: Path) -> None:
    """Its settings and weights; two adapters may be of two runs, and two runs may both have made one."""
    one = write(tmp_path / "one", adapter__adapter_config_dot_json="{}", adapter__adapter_model_dot_safetensors="x")
    write(one, adapter__tokenizer_config_dot_json="{}", runs__today__metrics_dot_csv="x")
    two = write(tmp_path / "two", a__adapter_config_dot_json="{}", b__adapter_config_dot_json="{}")
    write(two, runs__today__metrics_dot_csv="x")
    both = write(
        tmp_path / "both", adapter__adapter_config_dot_json="{}", a__metrics_dot_csv="x", b__metrics_dot_csv="x"
    )
    (run,) = walk(str(one), set())

    assert [Path(path).name for path in run.group.settings] == ["adapter_config.json"]
    assert [Path(path).name for path in run.group.checkpoints] == ["adapter_model.safetensors"]
    assert (roots(one), roots(two), roots(both)) == (["."], ["runs/today"], ["a", "b"])


def test_the_settings_that_mmengine_writes(tmp_path: Path) -> None:
    """In `vis_data/config.py`; no other Python file is read."""
    write(tmp_path, vis_data__config_dot_py="lr = 1", vis_data__model_dot_py="lr = 2", config_dot_py="lr = 3")
    write(tmp_path, vis_data__scalars_dot_json="x")
    (run,) = walk(str(tmp_path), set())

    assert [str(Path(path).relative_to(tmp_path)) for path in run.group.settings] == ["vis_data/config.py"]
