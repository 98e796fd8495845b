"""SQL over a store: what may be asked, what is opened for it, and how answers look."""

import json
from pathlib import Path

import polars as pl
import pytest
from rich.cells import cell_len

from loganalyst import Store, query
from loganalyst.errors import StoreError
from loganalyst.report.common import csvtext, grid
from loganalyst.store.tablefiles import ALL_TABLES, BIG, JUDGED

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
    """Quoted text is no part of the statement."""
    found = query.ask(store, "SELECT count(*) AS n FROM lines WHERE text LIKE '%read_csv(''x'')%--/*%'")

    assert found.item() == 0


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT * FROM poins", "no table 'poins'; did you mean 'points'?"),
        ("SELECT nam FROM runs", "no column 'nam'; did you mean 'name'?"),
        ("SELECT a FROM", "DESCRIBE lists the tables"),
    ],
)
def test_errors_name_the_nearest(store: Store, sql: str, told: str) -> None:
    """The error for an unknown name has the nearest one."""
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

    assert csvtext.render(rows) == 'a,b,c\n1.5; 2.0,,\n,x,"y,z"\n'


HOSTILE = pl.DataFrame(
    {
        "run_id": ["ab12cd34ef56"] * 3,
        "text": ["\x1b[31mred\x1b]0;title\x07\nnext\r\n" + "x" * 300, "损失函数" * 30, "ok\u202etxt"],
        "value": [1.5, float("nan"), None],
        "list": [[1, 2, 3] * 40, [], None],
        **{f"column_{i}": [i] * 3 for i in range(12)},
    }
)


@pytest.mark.parametrize("width", [20, 60, 80, 100, 200])
@pytest.mark.parametrize("ascii_only", [False, True])
def test_a_drawn_table_fits_and_says_what_it_cut(width: int, ascii_only: bool) -> None:
    """With any cells, no line is wider than the screen, each row is a line, and cuts are counted."""
    drawn = grid.render(HOSTILE, width, ascii_only=ascii_only)
    table, _, told = drawn.partition("\n\n")

    assert max(map(cell_len, drawn.splitlines())) <= width
    assert len(table.splitlines()) == 2 + HOSTILE.height
    assert all(c.isprintable() for line in drawn.splitlines() for c in line)
    assert " ".join(told.split()).endswith("--format csv, json or jsonl writes all of it.")
    shown = table.splitlines()[0].split()
    hidden = HOSTILE.width - len(shown)
    assert (f"{hidden} columns (" in " ".join(told.split())) is (hidden > 1)


def test_a_table_that_fits_is_whole() -> None:
    """Numbers are right-aligned, NULL and NaN are words, and no line reports a cut."""
    drawn = grid.render(pl.DataFrame({"a": ["x", None], "n": [1.5, float("nan")], "b": [True, None]}), 40)

    assert (
        drawn == "a     n  b\n────  ───  ────\n".replace("a     n", "a       n") + "x     1.5  true\nnull  NaN  null\n"
    )


def test_many_rows_are_cut_and_counted() -> None:
    """A drawn table is for reading: the first thousand rows."""
    drawn = grid.render(pl.DataFrame({"a": range(1001)}), 80)

    assert drawn.endswith("\n\nLeft out: 1 row. --format csv, json or jsonl writes all of it.\n")
    assert len(drawn.splitlines()) == 1004


def test_one_row_that_does_not_fit_is_listed() -> None:
    """A line a column: what `SELECT * FROM features` of one run gives."""
    drawn = grid.render(HOSTILE.head(1), 60)

    assert drawn.splitlines()[0].split() == ["run_id", "ab12cd34ef56"]
    assert len(drawn.partition("\n\n")[0].splitlines()) == HOSTILE.width


def test_describe_lists_every_table_and_column(store: Store) -> None:
    """All tables with their rows; a table with type, unit and meaning of all its columns, those of features too."""
    tables = query.ask(store, "DESCRIBE")
    points = dict(tables.select("table", "rows").iter_rows())["points"]

    assert tables["table"].to_list() == [*ALL_TABLES]
    assert points == query.ask(store, "SELECT count(*) AS n FROM points").item()
    assert all(tables["a row is"])
    for name in ALL_TABLES:
        found = query.ask(store, f"describe {name};")
        assert found["column"].to_list() == getattr(store, name).collect_schema().names()
        assert all(found["meaning"])
        assert found.columns == ["column", "dtype", "unit", "meaning"]


def test_describe_counts_nothing_that_is_not_known(tmp_path: Path) -> None:
    """While a run waits to be judged, the row counts of judged tables are unknown; nothing is judged to count them."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run/metrics.csv").write_text(LOSS)
    store = Store(tmp_path / "store")
    store.ingest([tmp_path / "run"])
    rows = dict(query.ask(store, "DESCRIBE").select("table", "rows").iter_rows())

    assert {rows[name] for name in JUDGED} == {None}
    assert rows["points"] == 4
    assert store.unjudged().height == 1


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("DESCRIBE poins", "no table 'poins'; did you mean 'points'?"),
        ("DESCRIBE points runs", "DESCRIBE takes one table"),
        ("SELECT zzz FROM runs", "there are run_id, path, name"),
        ("SELECT * FROM zzz", "DESCRIBE lists them: points,"),
    ],
)
def test_describe_and_errors_lead_on(store: Store, sql: str, told: str) -> None:
    """The error for an unknown name lists the existing ones."""
    with pytest.raises(StoreError) as refused:
        query.ask(store, sql)

    assert told in str(refused.value)


def test_a_store_completes_its_tables(store: Store) -> None:
    """`dir` and so the Tab key know the tables; the repr names them."""
    assert {*ALL_TABLES} <= {*dir(store)}
    assert all(name in repr(store) for name in ALL_TABLES)
