"""Batches of a what-if study hold what Arrow itself would make of the columns, without pandas."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow", reason="needs pyarrow: pip install 'midstream[spark]'")

VALUES: dict[Any, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(-(1 << 63), (1 << 63) - 1),
    pa.int32(): st.integers(-(1 << 31), (1 << 31) - 1),
    pa.float64(): st.floats(allow_nan=False),
    pa.bool_(): st.booleans(),
    pa.string(): st.text(),
}

IMPORTS = """
import sys
import pyarrow as pa
from midstream.scenarios.stages.what_if.row_buffer import RowBuffer
kept = RowBuffer(pa.schema([("x", pa.int64()), ("text", pa.string()), ("is_so", pa.bool_())]))
(batch,) = [*kept.add({"x": [1], "text": ["a"], "is_so": [True]}), *kept.flush()]
print(batch.num_rows, "pandas" in sys.modules)
"""


@pytest.mark.parametrize("type_", VALUES, ids=str)
@given(data=st.data())
def test_a_column_is_what_arrow_makes_of_its_values(type_: Any, data: st.DataObject) -> None:
    from midstream.scenarios.stages.what_if.row_buffer import column_of

    values = data.draw(st.lists(VALUES[type_]))
    column = column_of(values, type_)
    column.validate(full=True)
    assert column.equals(pa.array(values, type_))


def test_a_batch_is_made_without_pandas() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "False"]
