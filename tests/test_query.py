"""SQL over a store: what may be asked, what is opened for it, and how answers look."""

import json
from pathlib import Path

import polars as pl
import pytest

from loganalyst import Store, query
from loganalyst.errors import StoreError
from loganalyst.report import csv
from loganalyst.store.tables import ALL_TABLES, BIG, JUDGED

LOSS = "step,loss\n0,1.5\n1,nan\n2,inf\n3,-inf\n"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """Three runs; that of seed 1 is not finite."""
    root = tmp_path_factory.mktemp("runs")
    for seed in range(3):
        (root / f"runs/seed{seed}").mkdir(parents=True)
        text = LOSS if seed == 1 else "step,loss\n" + "".join(f"{i},{1 / (i + 1 + seed)}\n" for i in range(30))
        (root / f"runs/seed{seed}/metrics.csv").write_text(text)
    store = Store(root / "store")
    store.ingest([root / "runs"])
    return store


def test_every_table_can_be_asked(store: Store) -> None:
    """SHOW TABLES names all tables, and each answers with its columns."""
    assert query.ask(store, "SHOW TABLES")["name"].to_list() == sorted(ALL_TABLES)
    for name in ALL_TABLES:
        found = query.ask(store, f"SELECT * FROM {name}")
        assert found.schema == getattr(store, name).collect_schema()
        assert found.columns[0] == "run_id"


def test_tables_can_be_joined(store: Store) -> None:
    """What was read and what was judged meet by run_id."""
    found = query.ask(store, """
        WITH bad AS (SELECT run_id, label FROM diagnoses WHERE status <> 'healthy')
        SELECT r.name, b.label FROM runs r JOIN bad b ON r.run_id = b.run_id WHERE b.label = 'nan_loss'
    """)  # fmt: skip

    assert found.rows() == [("seed1", "nan_loss")]


@pytest.mark.parametrize("where", ["run_id = '{0}'", "'{0}' = run_id AND metric = 'loss'", "run_id IN ('{0}')"])
def test_one_run_opens_one_file(store: Store, where: str) -> None:
    """A comparison of run_id leaves the files of the other runs closed: here they are no Parquet at all."""
    runs = store.runs.sort("name").collect()["run_id"].to_list()
    kept = [store.run_file("points", run) for run in runs[1:]]
    content = [file.read_bytes() for file in kept]
    try:
        for file in kept:
            file.write_bytes(b"no Parquet")
        found = query.ask(store, f"SELECT count(*) AS n FROM points WHERE {where.format(runs[0])}")
    finally:
        for file, data in zip(kept, content, strict=True):
            file.write_bytes(data)

    assert found.item() == 30


def test_big_tables_that_are_not_named_are_not_touched(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question about runs reads no points, and judges nothing."""
    asked: list[str] = []
    table = Store.table
    monkeypatch.setattr(Store, "table", lambda self, name: asked.append(name) or table(self, name))
    query.ask(store, "SELECT count(*) FROM runs WHERE name = 'points of findings'")

    assert asked == ["runs"]
    assert not {*BIG, *JUDGED} & {*asked}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('{0}')",
        "SELECT * FROM Read_CSV ('{0}')",
        "SELECT * FROM \"read_csv\"('{0}')",
        "SELECT * FROM `read_csv`('{0}')",
        "SELECT * FROM read_csv/**/('{0}')",
        "SELECT * FROM read_csv -- '\n('{0}')",
        "SELECT $$ ' $$ FROM read_csv('{0}') WHERE '' = ''",
        "SELECT E'\\' FROM read_csv('{0}') --'",
        "SELECT * FROM runs UNION SELECT * FROM read_parquet('{0}')",
        "EXPLAIN SELECT * FROM read_json('{0}')",
        "SELECT * FROM runs WHERE name IN (SELECT * FROM read_ipc('{0}'))",
        "SELECT * FROM '{0}'",
        "DROP TABLE runs",
        "CREATE TABLE x AS SELECT * FROM runs",
        "DELETE FROM runs",
        "TRUNCATE TABLE runs",
        "INSERT INTO runs VALUES (1)",
        "SELECT * FROM runs; SELECT * FROM runs",
        "",
        "'",
        "; DROP TABLE runs",
    ],
)
def test_only_the_stores_tables_are_read(store: Store, tmp_path: Path, sql: str) -> None:
    """Whatever may read another file, or change something, is refused, and says nothing of that file."""
    (tmp_path / "secret.csv").write_text("secret\nsesame\n")
    with pytest.raises(StoreError) as refused:
        query.ask(store, sql.format(tmp_path / "secret.csv"))

    assert "sesame" not in str(refused.value)


def test_text_may_look_like_a_function(store: Store) -> None:
    """What stands in quotes is no part of the statement."""
    found = query.ask(store, "SELECT count(*) AS n FROM lines WHERE text LIKE '%read_csv(''x'')%--/*%'")

    assert found.item() == 0


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT * FROM poins", "no table 'poins'; did you mean 'points'?"),
        ("SELECT nam FROM runs", "no column 'nam'; did you mean 'name'?"),
        ("SELECT a FROM", "SHOW TABLES names the tables"),
    ],
)
def test_errors_name_the_nearest(store: Store, sql: str, told: str) -> None:
    """An unknown name is told with the one that was meant."""
    with pytest.raises(StoreError) as refused:
        query.ask(store, sql)

    assert told in str(refused.value)


def test_json_has_words_for_what_is_no_number(store: Store) -> None:
    """NaN and infinities are strings, NULL is null, and every line is an object."""
    rows = query.ask(store, "SELECT step, epoch, value FROM points WHERE step < 4 ORDER BY value, step")
    values = [json.loads(line) for line in query.json_lines(rows) if '"step": ' in line]
    odd = {v["value"] for v in values if isinstance(v["value"], str)}

    assert odd == {"NaN", "Infinity", "-Infinity"}
    assert {v["epoch"] for v in values} == {None}


def test_lists_are_text_in_csv() -> None:
    """What CSV has no form for is written as its values."""
    rows = pl.DataFrame({"a": [[1.5, 2.0], None], "b": [None, ["x"]], "c": [None, "y,z"]})

    assert csv.render(rows) == 'a,b,c\n1.5; 2.0,,\n,x,"y,z"\n'


def test_a_drawn_table_controls_no_terminal() -> None:
    """Log text with escape sequences is shown, not obeyed; many rows are cut and counted."""
    drawn = query.drawn(pl.DataFrame({"text": ["\x1b[31mred\n"] * 1001}), 60, ascii_only=True)

    assert "\x1b" not in drawn
    assert "[31mred" in drawn
    assert drawn.endswith("1 more rows; --format csv writes them all\n")
    assert drawn.isascii()
