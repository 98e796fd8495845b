"""Five cases that users bring, each from a real small training or its recorded logs, told as users tell them."""

import warnings
from pathlib import Path

import pytest

from fixtures import trainings
from fixtures.models import RNN, Block
from fixtures.writers import Clock, TensorBoard, config
from loganalyst import pipeline
from loganalyst.contextfile import read
from loganalyst.model import Diagnosis

torch = pytest.importorskip("torch")
RUNS = Path(__file__).parents[1] / "fixtures/runs"


def verdicts(d: Diagnosis) -> list[str]:
    """What was told and what the logs say to it."""
    return [told["verdict"] for told in d.summary["told_symptoms"]]


@pytest.fixture(scope="module")
def curriculum(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """A classifier on easy patterns; from epoch 7 on the next stage of its curriculum, which it has never seen."""
    run = tmp_path_factory.mktemp("curriculum")
    trainings.seed(7)
    model = trainings.mlp(64, 64, 10)
    easy, hard = trainings.Digits(0, noise=0.5), trainings.Digits(1, noise=3.0, wrong=0.6)
    batches = [*easy.stream(64, 700), *hard.stream(64, 300)]
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    config(run, learning_rate=3e-3, batch_size=64, epochs=10, curriculum_switch_epoch=7)
    with TensorBoard(run, Clock(0.05)) as writer:
        for s in trainings.train(model, batches, trainings.classify(model), optimizer):
            values = {"train/loss": s.loss, "train/grad_norm": s.grad_norm, "train/lr": s.lr, "epoch": s.step // 100}
            writer.log(s.step, {**values, "curriculum/stage": float(s.step >= 700)})
    return pipeline.diagnose(run, symptoms=["the loss diverges at epoch 7", "gradients explode"])


def test_a_loss_that_diverges_with_a_curriculum_change_is_put_down_to_the_data(curriculum: Diagnosis) -> None:
    """Not to the rate: nothing ran up to it, it came at once, at the end of an epoch."""
    first = curriculum.causes[0]

    assert (curriculum.status, first.label, first.verdict) == ("diagnosis_complete", "distribution_shift", "likely")
    assert any("right after curriculum/stage changed at step 700" in e.text for e in first.evidence if e.holds)
    assert first.onset_step is not None
    assert 690 <= first.onset_step <= 710
    assert "lr_too_high" not in [c.label for c in curriculum.causes if c.verdict == "likely"]


def test_the_epoch_that_was_told_is_confirmed(curriculum: Diagnosis) -> None:
    """The user's epoch 7 is the step where the logs show it."""
    told = curriculum.summary["told_symptoms"][0]

    assert told["verdict"] == "confirmed"
    assert told["answer"].endswith("about where you said")


class TiedModel(torch.nn.Module):
    """A language model whose table of tokens is most of it, and serves as its output too."""

    def __init__(self, tokens: int, width: int, depth: int):
        super().__init__()
        self.table = torch.nn.Embedding(tokens, width)
        self.blocks = torch.nn.Sequential(*[Block(width, 2) for _ in range(depth)], torch.nn.LayerNorm(width))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.blocks(self.table(ids)) @ self.table.weight.T


@pytest.fixture(scope="module")
def one_token(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """4,000 tokens by Zipf's law, 32 wide, two layers less: 79 % of the parameters are the embedding."""
    run = tmp_path_factory.mktemp("one-token")
    trainings.seed(3)
    tokens, width, depth = 3000, 32, 2
    model = TiedModel(tokens, width, depth)
    parameters = sum(p.numel() for p in model.parameters())
    assert round(100 * tokens * width / parameters) == 79
    law = 1 / torch.arange(1, tokens + 1).float()
    config(run, vocab_size=tokens, n_embd=width, n_layer=depth, num_parameters=parameters, learning_rate=3e-4,
           batch_size=16, max_steps=200)  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)

    def loss_of(batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(model(batch[0]).flatten(0, 1), batch[1].flatten())

    def distinct() -> float:
        """The share of different tokens among 64 that it writes by itself."""
        ids = torch.zeros(1, 1, dtype=torch.long)
        with torch.no_grad():
            for _ in range(64):
                ids = torch.cat([ids, model(ids)[:, -1].argmax(-1, keepdim=True)], 1)
        return len(set(ids[0, 1:].tolist())) / 64

    drawn = (torch.multinomial(law, 16 * 17, replacement=True).view(16, 17) for _ in range(200))
    batches = ((ids[:, :-1], ids[:, 1:]) for ids in drawn)
    with TensorBoard(run, Clock(0.1)) as writer:
        for s in trainings.train(model, batches, loss_of, optimizer, schedule=trainings.warmup(20), clip=1.0):
            writer.log(s.step, {"train/loss": s.loss, "train/grad_norm": s.grad_norm, "train/lr": s.lr})
            if s.step % 10 == 9:
                writer.log(s.step, {"eval/distinct_1": distinct()})
    return pipeline.diagnose(run, symptoms=["the model only prints one token"])


def test_a_model_that_prints_one_token_is_put_down_to_its_embedding(one_token: Diagnosis) -> None:
    """The share of the parameters is told with the numbers, and the smaller vocabulary as the change."""
    first = one_token.causes[0]

    assert (one_token.status, first.id) == ("diagnosis_complete", "embedding-dominates")
    assert any("79 % of" in e.text for e in first.evidence if e.holds)
    assert "vocabulary" in first.fix[0].change
    assert verdicts(one_token) == ["confirmed"]


@pytest.fixture(scope="module")
def variance(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """Inputs are scaled by the spread of their batch; the last batch of the third epoch holds one sample."""
    run = tmp_path_factory.mktemp("variance") / "train.log"
    trainings.seed(5)
    model, data = trainings.mlp(64, 32, 10), trainings.Digits(0)
    sizes = [32] * 40 + [1] + [32] * 20
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def loss_of(batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        x, y = batch
        scaled = (x - x.mean(0)) / (x.var(0) + 1e-5).sqrt()
        return torch.nn.functional.cross_entropy(model(scaled), y)

    with run.open("w") as log, warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda *w, **_: log.write(warnings.formatwarning(*w[:4]))  # as Python prints them
        log.write("Training on 1 device, 64 inputs, 10 classes\n")
        for s in trainings.train(model, map(data.sample, sizes), loss_of, optimizer):
            log.write(f"epoch {s.step // 20} step {s.step} loss: {s.loss:.4f}, grad_norm: {s.grad_norm:.4f}\n")
    return pipeline.diagnose(run, symptoms=["warnings: var(): degrees of freedom is <= 0", "NaN at step 40"])


def test_a_warning_of_degrees_of_freedom_names_the_cause_of_the_nan(variance: Diagnosis) -> None:
    """The line of the warning is shown, the NaN is its consequence, and both complaints are confirmed."""
    first = variance.causes[0]

    assert (first.id, first.verdict, first.band) == ("variance-of-one", "likely", "medium")
    assert first.line is not None
    assert "degrees of freedom" in (variance.run.path.read_text().split("\n")[first.line - 1])
    assert [c.id for c in variance.causes if c.verdict == "likely"] == ["variance-of-one"]
    assert "correction=0" in first.fix[0].change
    assert verdicts(variance) == ["confirmed", "confirmed"]


@pytest.fixture(scope="module")
def exploding(tmp_path_factory: pytest.TempPathFactory) -> Diagnosis:
    """A recurrent network over 40 time steps whose recurrent weights enlarge, trained without clipping."""
    run = tmp_path_factory.mktemp("exploding")
    trainings.seed(2)
    model = RNN(32, 1.25)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    config(run, model="rnn", width=32, batch_size=32, learning_rate=1e-3, max_grad_norm=0)

    def loss_of(batch: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        return torch.nn.functional.mse_loss(model(batch[0]).flatten(), batch[1])

    inputs = (torch.rand(32, 40, 2) for _ in range(120))
    with TensorBoard(run, Clock(0.05)) as writer:
        for s in trainings.train(model, ((x, x.prod(2).sum(1)) for x in inputs), loss_of, optimizer):
            writer.log(s.step, {"train/loss": s.loss, "train/grad_norm": s.grad_norm, "train/lr": s.lr})
    return pipeline.diagnose(run, symptoms=["gradients explode", "the loss becomes NaN"])


def test_gradients_that_explode_are_confirmed_and_explained(exploding: Diagnosis) -> None:
    """The gradients are the cause or what the rate made of them; the fix bounds a step."""
    first = exploding.causes[0]

    assert verdicts(exploding)[0] == "confirmed"
    assert first.verdict == "likely"
    assert first.label in ("exploding_gradients", "lr_too_high")
    assert any("clip" in f.change or "learning rate" in f.change for f in first.fix)


def test_gradients_that_vanish_are_confirmed_and_explained() -> None:
    """Fourteen sigmoid layers: the first ones get next to nothing."""
    found = pipeline.diagnose(RUNS / "vanishing-gradients", symptoms=["vanishing gradients in the first layers"])
    first = found.causes[0]

    assert verdicts(found) == ["confirmed"]
    assert (first.label, first.verdict) == ("vanishing_gradients", "likely")


@pytest.fixture
def missing(tmp_path: Path) -> Path:
    """A run's folder with its config alone, which names a checkpoint and logs that are not there."""
    run = tmp_path / "exp42"
    run.mkdir()
    config(run, model="gpt", resume_from="checkpoints/best_model.pt", log_dir="logs/exp42", learning_rate=1e-3)
    (tmp_path / "case.json").write_text(
        '{"artifacts": {"runs": "exp42", "logs": ["slurm-1.out"], "checkpoints": "exp42/checkpoints/best_model.pt"},'
        ' "symptoms": ["artefacts missing"]}'
    )
    return run


def test_artefacts_that_are_missing_are_named(missing: Path) -> None:
    """The config's paths and the case's are held against the disk; the diagnosis says which, and what to give."""
    case = read(missing.parent / "case.json")
    found = pipeline.diagnose(missing, case=case)
    first = found.causes[0]

    assert (found.status, first.id) == ("diagnosis_complete", "artefacts-missing")
    assert "resume_from names checkpoints/best_model.pt" in first.evidence[0].text
    assert first.fix[0].change == "correct resume_from: checkpoints/best_model.pt"
    assert verdicts(found) == ["confirmed"]
    assert [Path(fault.split(" names ")[1].split(",")[0]).name for fault in found.summary["faults"]] == [
        "slurm-1.out",
        "best_model.pt",
    ]


def test_artefacts_that_are_there_are_no_cause(missing: Path) -> None:
    """The same config beside its files is only too little to judge."""
    for name in ("checkpoints", "logs"):
        (missing / name).mkdir()
    (missing / "checkpoints/best_model.pt").write_bytes(b"x")
    (missing / "logs/exp42").mkdir()
    found = pipeline.diagnose(missing)

    assert (found.status, found.causes) == ("insufficient_data", ())
