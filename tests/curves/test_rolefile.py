"""`rules/roles.yaml` is complete: what it refers to exists."""

from loganalyst.curves.rolefile import all_roles, role_file


def test_roles_that_entries_name_exist() -> None:
    entries = role_file().roles.values()
    named = {entry.otherwise for entry in entries} | {entry.total for entry in entries if entry.total}
    named |= {role for company in role_file().company.values() for role in company.roles}
    named |= {role for turn in role_file().turns for role in (turn.given, turn.source)}
    named |= {role for names in role_file().sets for role in names.values()}

    assert named - all_roles().keys() == set()


def test_companies_that_entries_need_exist_and_are_used() -> None:
    assert {entry.needs for entry in role_file().roles.values() if entry.needs} == role_file().company.keys()


def test_ranges_are_in_order() -> None:
    ranges = [entry.range for entry in role_file().roles.values() if entry.range]

    assert ranges
    assert all(low < high for low, high in ranges)


def test_certainties_are_in_order() -> None:
    certainty = role_file().certainty

    assert 0 < certainty.doubted < certainty.named < certainty.confirmed < 1


def test_a_role_by_its_name() -> None:
    assert (all_roles()["reward"].worse, all_roles()["learning_rate"].worse) == ("down", None)
    assert all_roles()["rl_loss"].judged is False
