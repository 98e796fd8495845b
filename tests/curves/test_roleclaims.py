"""How sure a role is, and what makes it surer or less sure."""

from loganalyst.curves.roleclaims import claim, confirmed, doubted, is_unsure, named
from loganalyst.curves.roles import all_roles


def test_sources_of_a_role() -> None:
    """The trainer and the user are sure, a name is not, and no role has no confidence."""
    loss = all_roles()["train_loss"]

    assert named(loss, "", sure=True).confidence == 1.0
    assert named(loss, "", sure=False).confidence == 0.9
    assert named(all_roles()["other"], "", sure=False).confidence is None


def test_a_doubt_outweighs_a_confirmation() -> None:
    found = claim("reward", "name", 0.9)

    assert (confirmed(found, "x").confidence, doubted(found, "y").confidence) == (0.97, 0.6)
    assert confirmed(doubted(found, "y"), "x").confidence == 0.6
    assert confirmed(claim("reward", "name", 1.0), "x").why == "name"


def test_unsure() -> None:
    assert [is_unsure(p) for p in (None, 0.6, 0.79, 0.8, 1.0)] == [False, True, True, False, False]
