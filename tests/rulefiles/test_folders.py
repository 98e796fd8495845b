"""Folders of rules: which files are read, and their fingerprint."""

from pathlib import Path

from loganalyst.rulefiles.folders import digest, origin, our_digest, rules_dir, yaml_files


def test_the_catalogue_is_found() -> None:
    """The folder of the package's own rules exists, and its files have no origin of their own."""
    assert (rules_dir() / "roles.yaml").is_file()
    assert origin(rules_dir() / "roles.yaml") == ""
    assert origin("/mine/roles.yaml") == "/mine/roles.yaml"
    assert our_digest() == digest([rules_dir()])


def test_yaml_files_are_sorted_and_stay_inside(tmp_path: Path) -> None:
    """Other suffixes and links out of the folder are left out."""
    folder = tmp_path / "rules"
    for name in ("b.yaml", "a/c.yaml", "a/notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x: 1\n")
    (tmp_path / "outside.yaml").write_text("x: 1\n")
    (folder / "link.yaml").symlink_to(tmp_path / "outside.yaml")

    assert yaml_files(folder) == [folder / "a/c.yaml", folder / "b.yaml"]
    assert yaml_files(folder, "a") == [folder / "a/c.yaml"]
    assert yaml_files(folder, "..") == []


def test_the_digest_follows_names_and_contents(tmp_path: Path) -> None:
    """8 hexadecimal digits, the same for the same files."""
    (tmp_path / "a.yaml").write_text("x: 1\n")
    before = digest([tmp_path])
    (tmp_path / "a.yaml").write_text("x: 2\n")
    changed = digest([tmp_path])
    (tmp_path / "a.yaml").rename(tmp_path / "b.yaml")

    assert len(before) == 8
    assert len({before, changed, digest([tmp_path])}) == 3
