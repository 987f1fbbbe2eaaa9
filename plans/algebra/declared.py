"""The specification of declared keys and references: the elements that break them.

It is slow and simple. An engine must find the same elements while it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from midstream.plans.algebra.operators import Leaf
from midstream.plans.algebra.operators.declarations import Key, Reference
from midstream.plans.values.streams import Element, Payload

Streams = Mapping[str, Sequence[Element]]


def obedient(leaves: Iterable[Leaf], streams: Streams) -> dict[str, list[Element]]:
    """Streams without the elements that break a declaration, each in its order of arrival.

    Of two elements that agree on a key, the later one breaks it. An element breaks its reference if its
    partner has been removed.

    Cost: O(elements³ × declarations).

    >>> from midstream.plans.algebra.builder import stream
    >>> bids = stream("bids", id="integer").unique("id")
    >>> obedient(bids.plan().sources, {"bids": [(1, 2, (7,)), (1, 2, (7,)), (2, 3, (7,))]})
    {'bids': [(1, 2, (7,)), (2, 3, (7,))]}
    """
    by_name = {leaf.label: leaf for leaf in leaves if leaf.label in streams}
    kept = {name: list(elements) for name, elements in streams.items()}
    if not any(leaf.keys or leaf.references for leaf in by_name.values()):
        return kept
    for name, leaf in by_name.items():
        taken: list[Element] = []
        for element in kept[name]:
            if not any(breaks_key(leaf, key, element, taken) for key in leaf.keys):
                taken.append(element)
        kept[name] = taken
    is_changed = True
    while is_changed:
        is_changed = False
        for name, leaf in by_name.items():
            found = [
                element
                for element in kept[name]
                if not any(breaks_reference(leaf, one, element, by_name, kept) for one in leaf.references)
            ]
            is_changed |= len(found) < len(kept[name])
            kept[name] = found
    return kept


def breaks_key(leaf: Leaf, key: Key, element: Element, others: Iterable[Element]) -> bool:
    """True if the element agrees on the key with an element of `others`.

    Unless the key is lasting, only elements that are valid together count.
    """
    start, end, row = element
    values = _values(leaf, key.columns, row)
    return any(
        values == _values(leaf, key.columns, other) and (key.is_lasting or (start < until and since < end))
        for since, until, other in others
    )


def breaks_reference(
    leaf: Leaf, reference: Reference, element: Element, leaves: Mapping[str, Leaf], streams: Streams
) -> bool:
    """True if the element's referring columns are known, but at some instant it is valid without a partner.

    A reference to a stream that is not among `leaves` cannot be broken.
    """
    start, end, row = element
    values = _values(leaf, reference.columns, row)
    other = leaves.get(reference.to)
    if None in values or other is None:
        return False
    # A partner counts from its start until `within` chronons after its end.
    served = sorted(
        (since, until + reference.within)
        for since, until, partner in streams.get(reference.to, ())
        if _values(other, reference.to_columns, partner) == values
    )
    for since, until in served:
        if since <= start < until:
            start = until
    return start < end


def _values(leaf: Leaf, columns: Sequence[str], row: Payload) -> Payload:
    return tuple(row[leaf.columns.index(name)] for name in columns)
