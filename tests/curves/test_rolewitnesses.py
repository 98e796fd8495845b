"""Names propose roles, and the run confirms, changes or doubts them."""

from loganalyst.curves.roles import all_roles, proposed
from loganalyst.curves.rolewitnesses import weighed
from tests.curves.curvesof import curves_of, weighed_of

LOSS = [2.5 * 0.9**k for k in range(20)]


def test_a_score_that_is_the_held_out_loss() -> None:
    """Fairseq logs its held-out loss as `score`; without an agent the losses stay losses."""
    logged = {"loss": [x - 0.1 for x in LOSS], "valid loss": LOSS, "valid score": LOSS, "grad_norm": LOSS[::-1]}

    assert weighed_of(logged) == {
        "loss": ("train_loss", 0.9),
        "valid loss": ("val_loss", 0.9),
        "valid score": ("val_loss", 0.9),
        "grad_norm": ("grad_norm", 0.9),
    }


def test_losses_follow_only_a_sure_reward() -> None:
    assert weighed_of({"loss": LOSS, "reward": LOSS[:-1]})["loss"] == ("train_loss", 0.9)
    assert weighed_of({"loss": LOSS, "episode_reward": LOSS[:-1]})["loss"] == ("rl_loss", 0.9)


def test_the_trainer_needs_no_witness() -> None:
    known = {"reward": "reward", "val_acc": "val_accuracy"}

    assert weighed_of({"reward": LOSS, "val_acc": [200 * x for x in LOSS]}, known=known) == {
        "reward": ("reward", 1.0),
        "val_acc": ("val_accuracy", 1.0),
    }


def test_the_user_needs_no_witness() -> None:
    """What the user states does not follow another role either."""
    roles = proposed(["loss", "episode_reward"]) | {"loss": (all_roles()["train_loss"], "user")}
    found = weighed(curves_of({"loss": LOSS, "episode_reward": LOSS}), roles, (), {"loss"}, ())

    assert (found["loss"].role.name, found["loss"].confidence, found["loss"].why) == ("train_loss", 1.0, "user")


def test_a_perplexity_with_the_setting_of_a_codebook() -> None:
    """Beside a reconstruction term it counts codes if the settings name a codebook, and tokens otherwise."""
    logged = {"loss": LOSS, "recon_loss": LOSS, "perplexity": [10 + x for x in LOSS]}
    roles = proposed(list(logged))

    def role(*settings: str) -> str:
        return weighed(curves_of(logged), roles, (), (), settings)["perplexity"].role.name

    assert (role("model.codebook_size"), role("codebook_size")) == ("codebook_usage", "codebook_usage")
    assert role("learning_rate") == "train_perplexity"


def test_a_metric_without_points() -> None:
    assert weighed_of({"loss": [], "reward": []}) == {"loss": ("train_loss", 0.9), "reward": ("reward", 0.6)}


def test_a_critic_of_a_generator() -> None:
    assert weighed_of({"critic_loss": LOSS, "generator_loss": LOSS[::-1]}) == {
        "critic_loss": ("discriminator_loss", 0.9),
        "generator_loss": ("generator_loss", 0.97),
    }
