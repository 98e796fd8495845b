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
