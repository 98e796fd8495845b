"""docs/store.md says what the store is: its columns are the schemas', its queries run."""

import re
from pathlib import Path

import pytest

from loganalyst import Store, query
from loganalyst.store.tablefiles import ALL_TABLES, schema

PAGE = (Path(__file__).parents[2] / "docs/store.md").read_text(encoding="utf-8")
QUERIES = [sql for sql in re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL) if "DuckDB" not in sql]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    root = tmp_path_factory.mktemp("docs")
    (root / "run").mkdir()
    (root / "run/metrics.csv").write_text(
        "step,loss\n" + "".join(f"{i},{1 / (i + 1)}\n" for i in range(30)) + "30,nan\n"
    )
    (root / "run/config.yaml").write_text("optimizer: adamw\n")
    store = Store(root / "store")
    store.ingest([root / "run"])
    return store


@pytest.mark.parametrize("name", [name for name in ALL_TABLES if name != "features"])
def test_the_page_lists_every_column(name: str) -> None:
    """Names and types, in order, as in the schema."""
    (row,) = re.findall(rf"^\| `{name}` \| (.*?) \|", PAGE, re.MULTILINE)
    columns = [f"`{column}` {dtype}" for column, dtype in schema(name).items() if column != "run_id"]

    assert row.split(", ") == [plain(column) for column in columns]


def plain(column: str) -> str:
    return column.replace("Datetime(time_unit='us', time_zone='UTC')", "Datetime")


@pytest.mark.parametrize("sql", QUERIES)
def test_the_queries_run(store: Store, sql: str) -> None:
    """Every query of the page has an answer."""
    assert query.ask(store, sql).width > 1
