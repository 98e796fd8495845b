"""Settings files that are obeyed and ignored, as rows and as JSON."""

from dataclasses import replace

from loganalyst.model import SettingsFile
from loganalyst.report import trust
from loganalyst.report.common.rows import Row

OBEYED, IGNORED = SettingsFile("/a/loganalyst.yaml", "2 roles"), SettingsFile("/run/x.yaml", "not obeyed, inside")


def test_each_file_appears_once(healthy):
    """The same file of two runs is one row."""
    d = replace(healthy, settings_obeyed=(OBEYED,), settings_ignored=(IGNORED,))

    assert trust.rows(d, d) == (Row("Obeyed", "/a/loganalyst.yaml: 2 roles"), Row("Not obeyed", "/run/x.yaml: inside"))
    assert trust.data(d, d) == {
        "settings_obeyed": [{"file": "/a/loganalyst.yaml", "what": "2 roles"}],
        "settings_ignored": [{"file": "/run/x.yaml", "why": "not obeyed, inside"}],
    }


def test_entries_of_an_audit_are_counted_and_parsed():
    """A column has an entry a line; a file's name may hold a colon."""
    assert trust.entries([{"c": "a\nb"}, {"c": "b"}, {"c": None}], "c") == {"a": 1, "b": 2}
    assert trust.parsed("C: x.yaml: 2 roles") == SettingsFile("C: x.yaml", "2 roles")
    assert [trust.foreign(origin) for origin in ("ours", None, "my.yaml")] == ["", "", "my.yaml"]
