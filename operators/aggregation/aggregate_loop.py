"""The inner loop of aggregation, generated for the keys and functions at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import chain, count
from textwrap import indent

from midstream.operators.aggregation.aggregate_pieces import NAMES, GroupState
from midstream.operators.compile.generated import TOO_DEEP, define
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Col, row_scope
from midstream.plans.values.errors import ExpressionError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import Batch

_LOOP = """
class Group:
    __slots__ = ("key", "rows", "start", "place", {slots})

    def begin(self, key, start, place):
        self.key = key
        self.rows = 0
        self.start = start
        self.place = place
        {first_values}

    def values(self):
        return {fields}

    def keep(self, values):
        {fields} = values


def process(batch, progress, groups, valid, segments):
    if not batch or batch[-1][0] < progress:
        # What ends up to the progress leaves last, as it would before a row that starts there.
        batch = chain(batch, ((progress, None, None),))
    ends, members, entries, heap = valid.ends, valid.members, valid.entries, valid.heap
    {prepare}
    try:
        for start, end, row in batch:
            while True:
                if heap and heap[0][0] < ends[0]:
                    if heap[0][0] > start:
                        break
                    until, _, group, entry = heappop(heap)
                elif ends and ends[0] <= start:
                    until = ends.popleft()
                    {take_group}
                    {take_entry}
                else:
                    break
                {unpack}
                is_last = group.rows == 1
                if group.start < until:
                    {close_until}
                    if not is_last:
                        group.start = until
                        {reopen}
                elif is_last:
                    {close_empty}
                group.rows -= 1
                {remove}
                if is_last:
                    {forget}
            if end is None:
                break
            {compute}
            key = {key}
            {find}
            if group is None:
                {open}
            elif group.start < start:
                {close_start}
                group.start = start
                {reopen}
            group.rows += 1
            entry = {entry}
            {add}
            if not ends or end >= ends[-1]:
                ends.append(end)
                {keep_group}
                {keep_entry}
                {add_in_order}
            else:
                heappush(heap, (end, next(arrivals), group, entry))
                {add_late}
    finally:
        {put_back}
    return {result}
"""
"""The template of the loop: a segment closes where a row of its group starts or ends.

Then its value is taken, the row enters or leaves, and the next segment opens, unless the group has no more
rows. If a user's function raises, all earlier rows have been taken in.
"""

_SCALAR = {
    "prepare": """
out, group = [], groups.get(())
if group is not None:
    {fields} = group.values()""",
    "find": "pass",
    "open": """
group = groups[key] = Group()
group.begin(key, start, 0)
{fields} = group.values()""",
    "put_back": """
if group is not None:
    group.keep(({fields}))""",
    "reopen": "pass",
    "close": "out.append((group.start, {time}, {payload}))",
    "close_empty": "pass",
    "forget": "del groups[()]\ngroup = None",
    "take_group": "pass",
    "keep_group": "pass",
    "result": "out",
}
"""The parts of the loop for one group at most, with one open segment, so that a closed one leaves at once.

The group's fields are local variables while the loop runs, which saves a tenth of the time.
"""

_GROUPED = {
    "prepare": """
starts, known_ends, taken = segments.starts, segments.ends, segments.taken
{columns} = segments.columns""",
    "put_back": "pass",
    "find": "group = groups.get(key)",
    "open": """
group = groups[key] = spare.pop() if spare else Group()
group.begin(key, start, taken + len(starts))
{begin}""",
    "reopen": """
group.place = taken + len(starts)
{begin}""",
    "begin": """
starts.append(group.start)
known_ends.append(None)
{appends}""",
    "close": """
place = group.place - taken
known_ends[place] = {time}
{stores}""",
    "close_empty": """
known_ends[group.place - taken] = until
segments.hollow += 1""",
    "forget": "del groups[group.key]\nspare.append(group)",
    "take_group": "group = members.popleft()",
    "keep_group": "members.append(group)",
    "result": "segments.take()",
}
"""The parts of the loop for groups: a closed segment waits in its place until those before it are closed.

Groups without rows are used again: rare keys come and go, and garbage collection looks again and again at
objects that are made anew and stay for a while.
"""


_FIELD = r"\bgroup\.(?!begin\b|values\b|keep\b)"


def generate(keys: Sequence[str], calls: Sequence[AggregateCall], schema: Schema) -> Callable[..., Batch]:
    """Generate the loop: a function from a batch, its progress and the operator's state to results."""
    state = GroupState(schema)
    scope = row_scope(schema, "row")
    for name in keys:
        Col(name).kind(schema)
    key_parts = [Col(key).source(scope) for key in keys]
    key = key_parts[0] if len(keys) == 1 else f"({''.join(f'{part}, ' for part in key_parts)})"
    group_key = ["group.key"] if len(keys) == 1 else [f"group.key[{i}]" for i in range(len(keys))]
    values = [state.value(i, call) for i, call in enumerate(calls)]
    slots = state.slots
    fields = ", ".join(f"self.{name}" for name in ("rows", "start", *slots))
    style = _grouped(group_key, values) if keys else _scalar(values, fields)
    close = f"{state.closing}\n{style['close'].strip()}"
    source = _filled(
        _LOOP,
        slots="".join(f'"{name}", ' for name in slots),
        first_values="\n".join(f"self.{name} = {first}" for name, first in slots.items()) or "pass",
        fields=fields,
        **_entry(len(state.arguments)),
        compute=state.compute(scope),
        key=key,
        close_until=close.format(time="until"),
        close_start=close.format(time="start"),
        **{name: part for name, part in style.items() if name != "close"},
        **{moment: state.lines(moment) for moment in ("add", "add_in_order", "add_late", "remove")},
    )
    own = {"arrivals": count(), "chain": chain, "heappop": heappop, "heappush": heappush, "spare": []}
    if not keys:
        source = _with_local_fields(source)
    names = {**NAMES, **own, **scope.names, **state.names}
    try:
        process: Callable[..., Batch] = define(source, "process", names, "aggregation")
    except TOO_DEEP as error:
        raise ExpressionError(f"an expression nests too deeply; compute it in steps: {error}") from error
    return process


def _scalar(values: Sequence[str], fields: str) -> dict[str, str]:
    payload = f"({''.join(f'{value}, ' for value in values)})"
    parts = {"{payload}": payload, "{fields}": fields.replace("self.", "group.")}
    style = dict(_SCALAR)
    for name, part in parts.items():
        style = {moment: lines.replace(name, part) for moment, lines in style.items()}
    return style


def _with_local_fields(source: str) -> str:
    """The loop with the fields of the only group in variables; its methods are called as before.

    >>> _with_local_fields("def process(): group.keep((group.rows, group.start))")
    'def process(): group.keep((its_rows, its_start))'
    """
    group, loop = source.split("def process", 1)
    return f"{group}def process{re.sub(_FIELD, 'its_', loop)}"


def _grouped(keys: Sequence[str], values: Sequence[str]) -> dict[str, str]:
    """The parts for groups: a segment has its key from the beginning, and its values when it closes."""
    firsts = [*keys, *("None" for _ in values)]
    appends = "\n".join(f"column{i}.append({first})" for i, first in enumerate(firsts))
    stores = "\n".join(f"column{i}[place] = {value}" for i, value in enumerate(values, start=len(keys)))
    columns = "".join(f"column{i}, " for i in range(len(firsts)))
    begin = _filled(_GROUPED["begin"].strip(), appends=appends)
    parts = {"prepare": {"columns": columns}, "open": {"begin": begin}, "reopen": {"begin": begin}}
    style = {
        name: _filled(part.strip(), **parts[name]) if name in parts else part
        for name, part in _GROUPED.items()
    }
    return {**style, "close": _GROUPED["close"].replace("{stores}", stores)}


def _entry(arguments: int) -> dict[str, str]:
    """The parts that keep the arguments of a valid row; none where there are no arguments."""
    names = "".join(f"a{a}, " for a in range(arguments))
    if not names:
        return {"entry": "None", "keep_entry": "pass", "take_entry": "pass", "unpack": "pass"}
    return {
        "entry": f"({names})",
        "keep_entry": "entries.append(entry)",
        "take_entry": "entry = entries.popleft()",
        "unpack": f"{names} = entry",
    }


def _filled(template: str, **parts: str) -> str:
    """The template with its parts filled in, each indented as the place where it goes."""
    lines = []
    for line in template.splitlines():
        name = line.strip()[1:-1]
        if line.strip() == f"{{{name}}}" and name in parts:
            lines.append(indent(parts[name].strip(), line[: line.index("{")]))
        else:
            lines.append(line.format(**parts) if "{" in line else line)
    return "\n".join(lines)
