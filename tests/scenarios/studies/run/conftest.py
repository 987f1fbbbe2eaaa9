"""A small study: three streams of which two are far apart, with a query over all."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

TEXT = """
title: Three houses
sql: |
  CREATE STREAM A(at BIGINT, item INTEGER NOT NULL, price REAL) SOURCE csv('trades.csv', nullstr = 'NA')
    WHERE house = 'A' ORDERED BY at TIME_UNIT 's';
  CREATE STREAM B(at BIGINT, item INTEGER NOT NULL, price REAL) SOURCE csv('trades.csv', nullstr = 'NA')
    WHERE house = 'B' ORDERED BY at TIME_UNIT 's';
  CREATE STREAM C(at BIGINT, item INTEGER NOT NULL, price REAL) SOURCE csv('trades.csv', nullstr = 'NA')
    WHERE house = 'C' ORDERED BY at TIME_UNIT 's';
  SELECT a.item
  FROM   A a WINDOW(RANGE 1 MINUTE), B b WINDOW(RANGE 1 MINUTE), C c WINDOW(RANGE 1 MINUTE)
  WHERE  a.item = b.item AND b.item = c.item
bucket: 5m
stages:
  ingest:
  profile:
  what-if:
"""


def write_small(folder: Path) -> Path:
    """The study in a folder: 600 rows in an hour; items of A are few at first, those of C later."""
    draw = random.Random(5)
    lines = ["at,house,item,price"]
    for number in range(600):
        at, house = number * 6, "ABC"[number % 3]
        few = house == ("A" if at < 2700 else "C")
        lines.append(f"{at},{house},{draw.randrange(2 if few else 12)},{draw.choice(('NA', '1.5'))}")
    (folder / "trades.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    file = folder / "study.yaml"
    file.write_text(TEXT, encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study file."""
    return write_small(tmp_path_factory.mktemp("small"))
