"""The inner loop of aggregation, generated for the keys and functions at hand."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import chain
from textwrap import indent

from midstream.operators.aggregation.aggregate_pieces import NAMES, GroupState
from midstream.operators.aggregation.layout import Layout
from midstream.operators.aggregation.valid_rows import NEVER
from midstream.operators.compile.generated import TOO_DEEP, define
from midstream.plans.expressions.aggregates import AggregateCall
from midstream.plans.expressions.expressions import Col, row_scope
from midstream.plans.values.errors import ExpressionError
from midstream.plans.values.schema import Schema
from midstream.plans.values.streams import BEGINNING, Batch

_LOOP = """
class Group:
    __slots__ = ("key", "rows", "start", "place", "part", "part_end", {slots})

    def begin(self, key, start, place):
        self.key = key
        self.rows = 0
        self.start = start
        self.place = place
        self.part_end = None
        {first_values}

    def values(self):
        return {fields}

    def keep(self, values):
        {fields} = values


def process(batch, progress, groups, valid, segments):
    if not batch or batch[-1][0] < progress:
        # What ends up to the progress leaves last, as it would before a row that starts there.
        batch = chain(batch, ((progress, None, None),))
    ends, members, entries = valid.ends, valid.members, valid.entries
    late_ends, late, run = valid.late_ends, valid.late, valid.run
    last = ends[-1] if ends else BEGINNING
    due = valid.first_end()
    {prepare}
    try:
        for start, end, row in batch:
            while due <= start:
                if late_ends and late_ends[0] < ends[0]:
                    until = late_ends[0]
                    parts = late[until]
                    if type(parts) is tuple:
                        group, entry = parts
                        del late[heappop(late_ends)]
                    else:
                        if type(parts) is dict:
                            # No further row can have this end.
                            parts = late[until] = [*reversed({late_parts})]
                        group, entry = parts.pop()
                        if parts:
                            valid.late_more -= 1
                        else:
                            del late[heappop(late_ends)]
                else:
                    {end_run_that_leaves}
                    until = ends.popleft()
                    {take_group}
                    {take_entry}
                {unpack}
                is_last = group.rows == number
                if group.start < until:
                    {close_until}
                    if not is_last:
                        group.start = until
                        {reopen}
                elif is_last:
                    {close_empty}
                group.rows -= number
                {remove}
                if is_last:
                    {forget}
                due = ends[0] if ends else NEVER
                if late_ends and late_ends[0] < due:
                    due = late_ends[0]
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
            {add}
            if end {comes_behind} last:
                {end_run}
                if not ends:
                    due = end
                last = end
                ends.append(end)
                {keep_group}
                {keep_entry}
                {add_in_order}
            {equal_end}
            else:
                parts = late.get(end)
                if parts is None:
                    late[end] = group, {entry}
                    heappush(late_ends, end)
                    if end < due:
                        due = end
                else:
                    if type(parts) is tuple:
                        parts = late[end] = {begin_late}
                    {keep_late}
                {add_late}
    finally:
        {put_back}
    return {result}
"""
"""The template of the loop: a segment closes where a row of its group starts or ends.

Then its value is taken, the row enters or leaves, and the next segment opens, unless the group has no more
rows. If a user's function raises, all earlier rows have been taken in. `due` is the first end of all.
"""

_MERGING = {
    "comes_behind": ">",
    "merge_last": """
if type(entry) is tuple:
    first = entry
    entry = {several}
    {keep_part}
    {replace}
entry[-1] += 1
{merge}
{merge_in_order}""",
    "begin_late": "dict([parts])",
    "keep_late": """
entry = parts.get(group)
if entry is None:
    parts[group] = {entry}
    valid.late_more += 1
else:
    if type(entry) is tuple:
        first = entry
        entry = parts[group] = {several}
    entry[-1] += 1
    {merge}""",
    "late_parts": "parts.items()",
}
"""The parts of the loop where rows of a group with equal ends become one partial aggregate.

That of one row is a tuple, at which garbage collection does not look; that of several is a list.
"""

_COUNTING = {
    **_MERGING,
    "merge_last": "{merge_count}",
    "keep_late": """
if group not in parts:
    parts[group] = 0
    valid.late_more += 1
parts[group] += 1""",
    "entry": "1",
    "unpack": "number = entry",
}
"""The parts of the loop where rows are only counted: a partial aggregate is their number."""

_ROW_BY_ROW = {
    "comes_behind": ">=",
    "equal_end": "",
    "begin_late": "{0: parts}",
    "keep_late": """
parts[len(parts)] = group, {entry}
valid.late_more += 1""",
    "late_parts": "parts.values()",
}
"""The parts of the loop where some function needs each row by itself."""

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
    "end_run": "pass",
    "end_run_that_leaves": "pass",
    "equal_end": """
elif end == last:
    entry = entries[-1]
    {merge_last}""",
    "keep_part": "entries[-1] = entry",
    "merge_count": "entries[-1] = entry + 1",
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
    "end_run": "if run:\n    valid.end_run()",
    "end_run_that_leaves": "if run and ends[0] == last:\n    valid.end_run()",
    "equal_end": """
elif end == last:
    if not run:
        valid.begin_run()
    if group.part_end == end:
        entry = group.part
        {merge_last}
    else:
        group.part = entry = {entry}
        group.part_end = end
        run.append(group)
        {add_in_order}""",
    "keep_part": "group.part = entry",
    "merge_count": "group.part = entry + 1",
    "result": "segments.take()",
}
"""The parts of the loop for groups: a closed segment waits in its place until those before it are closed.

Groups without rows are used again: rare keys come and go, and garbage collection looks again and again at
objects that are made anew and stay for a while.
"""


_COUNTING_GROUPS = {
    "keep_entry": "pass",
    "take_entry": """
if type(group) is list:
    group, entry = group
else:
    entry = 1""",
}
"""The parts of the loop where the rows of groups are only counted: the number stands beside the group.

A number of 1 does not, so that it takes no time.
"""


_FIELD = r"\bgroup\.(?!begin\b|values\b|keep\b)"


def generate(keys: Sequence[str], calls: Sequence[AggregateCall], schema: Schema) -> Callable[..., Batch]:
    """Generate the loop: a function from a batch, its progress and the operator's state to results."""
    state = GroupState(schema, merges=all(call.merges for call in calls))
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
    close = f"{state.closing}\n{style.pop('close').strip()}"
    layout = Layout(len(state.arguments), state.pieces, merges=state.merges)
    moments = ("add", "add_in_order", "add_late", "merge", "merge_in_order")
    parts = {
        **style,
        "keep_entry": "entry = {entry}\nentries.append(entry)",
        "take_entry": "entry = entries.popleft()",
        "entry": layout.alone,
        "several": layout.several,
        "unpack": layout.unpack,
        "remove": state.remove,
        "replace": state.replace,
        **{moment: state.lines(moment) for moment in moments},
        **(_MERGING if state.merges else _ROW_BY_ROW),
    }
    if not state.arguments:
        parts |= {**_COUNTING, **(_COUNTING_GROUPS if keys else {})}
    for name in ("merge_last", "equal_end", "keep_late", "keep_entry"):
        parts[name] = _filled(parts.get(name, "pass").strip(), **parts)
    source = _filled(
        _LOOP,
        slots="".join(f'"{name}", ' for name in slots),
        first_values="\n".join(f"self.{name} = {first}" for name, first in slots.items()) or "pass",
        fields=fields,
        compute=state.compute(scope),
        key=key,
        close_until=close.format(time="until"),
        close_start=close.format(time="start"),
        **parts,
    )
    own = {
        "chain": chain,
        "heappop": heappop,
        "heappush": heappush,
        "spare": [],
        "BEGINNING": BEGINNING,
        "NEVER": NEVER,
    }
    if not keys:
        source = _with_local_fields(source)
    source = layout.resolved(source)
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
