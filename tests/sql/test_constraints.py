"""Keys and references in CREATE."""

from __future__ import annotations

import pytest

import midstream as ms
from midstream.plans.algebra.operators import Logical
from midstream.plans.algebra.operators.declarations import Key, Reference
from midstream.plans.algebra.properties import is_included, keys
from midstream.plans.sql.catalog import Catalog
from midstream.plans.values.errors import SqlError
from midstream.plans.values.streams import FOREVER


def declared(columns: str, before: str = "") -> tuple[tuple[Key, ...], tuple[Reference, ...]]:
    """What is declared of a stream with some columns, besides a timestamp."""
    query = Catalog().query(
        f"{before}; CREATE STREAM s({columns}, at TIMESTAMP) ORDERED BY at; SELECT * FROM s"
    )
    (source,) = query.plan.sources
    return source.keys, source.references


KEYS: dict[str, list[Key]] = {
    "x INT": [],
    "x INT PRIMARY KEY": [Key(("x",))],
    "x INT NOT NULL UNIQUE": [Key(("x",))],
    "X INT NOT NULL, unique (x)": [Key(("X",))],
    "x INT, y INT, PRIMARY KEY (y, x)": [Key(("y", "x"))],
    "x INT PRIMARY KEY FOR ALL TIME": [Key(("x",), True)],
    "x INT PRIMARY KEY NOT ENFORCED": [Key(("x",), False, False)],
    "x INT NOT NULL UNIQUE FOR ALL TIME NOT ENFORCED": [Key(("x",), True, False)],
    "x INT UNIQUE NULLS NOT DISTINCT": [Key(("x",))],
    "x INT, UNIQUE NULLS NOT DISTINCT (x)": [Key(("x",))],
    "x INT PRIMARY KEY UNIQUE FOR ALL TIME": [Key(("x",)), Key(("x",), True)],
    "unique INT NOT NULL, UNIQUE (unique)": [Key(("unique",))],
}


@pytest.mark.parametrize("columns", KEYS)
def test_keys_are_read(columns: str) -> None:
    assert declared(columns) == (tuple(KEYS[columns]), ())


ITEMS = "CREATE RELATION items(id INT PRIMARY KEY, name TEXT)"
REFERENCES: dict[str, Reference] = {
    "x INT REFERENCES items": Reference(("x",), "items", ("id",)),
    "x INT REFERENCES ITEMS (ID)": Reference(("x",), "items", ("id",)),
    "x INT, FOREIGN KEY (x) REFERENCES items": Reference(("x",), "items", ("id",)),
    "x INT, y TEXT, FOREIGN KEY (y, x) REFERENCES items (name, id)": Reference(
        ("y", "x"), "items", ("name", "id")
    ),
    "x INT REFERENCES items FOR ALL TIME": Reference(("x",), "items", ("id",), FOREVER),
    "x INT REFERENCES items WITHIN 5 SECONDS": Reference(("x",), "items", ("id",), 5000),
    "x INT REFERENCES items WITHIN 5": Reference(("x",), "items", ("id",), 5),
    "x INT REFERENCES items WITHIN 2 MINUTES NOT ENFORCED": Reference(
        ("x",), "items", ("id",), 120_000, False
    ),
    "x INT, y INT NOT NULL UNIQUE REFERENCES s (x)": Reference(("y",), "s", ("x",)),
    "x INT REFERENCES s, y INT, PRIMARY KEY (y)": Reference(("x",), "s", ("y",)),
}


@pytest.mark.parametrize("columns", REFERENCES)
def test_references_are_read(columns: str) -> None:
    assert declared(columns, ITEMS)[1] == (REFERENCES[columns],)


def test_the_columns_of_a_primary_key_are_known() -> None:
    query = Catalog().query("CREATE STREAM s(x INT, y INT, PRIMARY KEY (x)); SELECT * FROM s")
    assert [column.nullable for column in query.plan.schema] == [False, True]


WRONG: dict[str, str] = {
    "x INT UNIQUE": r"column x may be unknown.*declare it NOT NULL, or UNIQUE NULLS NOT DISTINCT \(x\)",
    "x INT PRIMARY KEY, y INT PRIMARY KEY": "s has two primary keys, expected one",
    "x INT, UNIQUE (z)": "there is no column z",
    "x INT, UNIQUE (at)": "there is no column at",
    "x INT, UNIQUE NULLS NOT DISTINCT (x, x)": "expected each column once",
    "x INT REFERENCES nowhere (x)": "there is no stream or relation nowhere",
    "x INT REFERENCES items (z)": "there is no column z",
    "x INT REFERENCES s": r"s has no primary key; name the columns: REFERENCES s \(…\)",
    "x INT, FOREIGN KEY (x) REFERENCES items (id, name)": "found 1 columns that refer to 2",
    "x INT, FOREIGN KEY (x) items": "found items, expected REFERENCES",
    "x INT REFERENCES items WITHIN 5 FORTNIGHTS": "there is no unit of time FORTNIGHTS",
    "x INT REFERENCES items WITHIN 5 HOURS FOR ALL TIME": "WITHIN and FOR ALL TIME, expected one of them",
    "x INT NOT NULL UNIQUE FOR EVER": r"found FOR, expected \)",
}


@pytest.mark.parametrize("columns", WRONG)
def test_wrong_declarations_are_refused_with_their_place(columns: str) -> None:
    with pytest.raises(SqlError, match=f"(?s){WRONG[columns]}"):
        declared(columns, ITEMS)


def test_what_is_referred_to_is_not_dropped() -> None:
    catalog = Catalog()
    catalog.execute(f"{ITEMS}; CREATE STREAM s(x INT REFERENCES items)")
    with pytest.raises(SqlError, match="relation items is still read by s"):
        catalog.execute("DROP RELATION items")
    catalog.execute("DROP STREAM s; DROP RELATION items")


def test_time_is_counted_in_the_chronons_of_the_queries() -> None:
    """The unit of the catalog is that of its finest stream, which may come later."""
    catalog = Catalog(unit=None)
    (query,) = catalog.execute(
        """
        CREATE STREAM r(a INT PRIMARY KEY, at TIMESTAMP) ORDERED BY at TIME_UNIT hours;
        CREATE STREAM s(x INT REFERENCES r WITHIN 2 HOURS, at TIMESTAMP) ORDERED BY at TIME_UNIT minutes;
        SELECT * FROM s
        """
    )
    assert query.plan.sources[0].references == (Reference(("x",), "r", ("a",), 120),)


def test_what_is_declared_follows_through_a_query() -> None:
    catalog = Catalog()
    catalog.execute(
        """
        CREATE RELATION items(id INT PRIMARY KEY, name TEXT);
        CREATE STREAM bids(number INT PRIMARY KEY FOR ALL TIME, item INT NOT NULL REFERENCES items)
        """
    )
    bids = catalog.query("SELECT b.item, b.number FROM bids b WINDOW(RANGE 1 HOUR)").plan.root
    items = catalog.query("SELECT DISTINCT id FROM items, bids WINDOW(RANGE 1 HOUR)").plan
    (relation,) = (node for node in items.nodes if node.operator in items.relations)
    assert keys(bids) == (frozenset({"number"}),)
    assert is_included(bids, ["item"], relation, ["id"])
    assert isinstance(relation.operator, Logical)


def test_an_engine_checks_what_a_script_declares() -> None:
    catalog = Catalog()
    query = catalog.query("CREATE STREAM s(x INT PRIMARY KEY); SELECT * FROM s")
    engine = ms.Engine(query.plan)
    engine.push("s", [(1, 2, (7,)), (2, 3, (7,))])
    with pytest.raises(ms.errors.DeclarationError, match=r"agrees on x .* expected unique \(x\)"):
        engine.push("s", [(2, 3, (7,))])
