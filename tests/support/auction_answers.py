"""The eleven queries of the Stream Query Repository, answered by hand: what is valid at one instant.

Each function reads the raw events as they were generated, and follows the question in words. None uses a
window, an operator or a plan of the project.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Rows = list[tuple[Any, ...]]
Streams = Mapping[str, Sequence[tuple[int, tuple[Any, ...]]]]
"""By the generator's name of a stream, timestamps and payloads."""

MINUTE, HOUR, DAY = 60, 3600, 86400

FIVE_ITEMS = (1007, 1020, 2001, 2019, 1087)


def last(streams: Streams, name: str, size: int, instant: int) -> Rows:
    """The rows of the last `size` seconds."""
    return [row for time, row in streams[name] if instant - size < time <= instant]


def currency_conversion(streams: Streams, instant: int) -> Rows:
    return [(item, price * 0.908, bidder) for item, bidder, price in last(streams, "bid", 1, instant)]


def selection(items: Sequence[int]) -> Callable[[Streams, int], Rows]:
    def selected(streams: Streams, instant: int) -> Rows:
        bids = last(streams, "bid", 1, instant)
        return [(item, price, bidder) for item, bidder, price in bids if item in items]

    return selected


def local_item_suggestion(streams: Streams, instant: int) -> Rows:
    persons = {row[0]: row for time, row in streams["person"] if time <= instant}
    found = []
    for item, seller, category, *_ in last(streams, "auction", 1, instant):
        _, name, _, city, state = persons[seller]
        if category == 10 and state == "OR":
            found.append((name, city, state, item))
    return found


def open_auctions(streams: Streams, instant: int) -> Rows:
    # The generator keeps none open for longer; where events were cut off, closings are missing.
    opened = last(streams, "auction", 2 * DAY, instant)
    closed = {row[0] for time, row in streams["closed_auction"] if time <= instant}
    return [(item, seller, price) for item, seller, _, price, *_ in opened if item not in closed]


def closing_price(streams: Streams, instant: int) -> Rows:
    found = []
    for item, *_ in last(streams, "closed_auction", 1, instant):
        ((seller, start_price),) = ((a[1], a[3]) for _, a in streams["auction"] if a[0] == item)
        bids = [price for time, (other, _, price) in streams["bid"] if other == item and time <= instant]
        found.append((item, seller, max([start_price, *bids])))
    return found


def average_closing_price(streams: Streams, instant: int) -> Rows:
    category = {row[0]: row[2] for _, row in streams["auction"]}
    times = {time for time, _ in streams["closed_auction"] if instant - HOUR < time <= instant}
    prices: dict[int, list[float]] = {}
    for time in times:
        for item, _, price in closing_price(streams, time):
            prices.setdefault(category[item], []).append(price)
    return [(key, sum(values) / len(values)) for key, values in prices.items()]


def short_auctions(streams: Streams, instant: int) -> Rows:
    opened = {row[0]: (time, row) for time, row in streams["auction"]}
    found = []
    for item, *_ in last(streams, "closed_auction", 1, instant):
        time, (_, seller, _, start_price, *__) = opened[item]
        if instant - time < 5 * HOUR:
            found.append((item, seller, start_price))
    return found


def hot_items(streams: Streams, instant: int) -> Rows:
    counts = Counter(item for item, *_ in last(streams, "bid", HOUR, last_full(instant, MINUTE)))
    return [(item,) for item, number in counts.items() if number == max(counts.values())]


def average_selling_price(streams: Streams, instant: int) -> Rows:
    sales: dict[int, list[float]] = {}
    for time, (_, seller, buyer, price) in streams["closed_auction"]:
        if time <= instant and buyer is not None:
            sales.setdefault(seller, []).append(price)
    return [(seller, sum(prices[-10:]) / len(prices[-10:])) for seller, prices in sales.items()]


def highest_bid(streams: Streams, instant: int) -> Rows:
    bids = last(streams, "bid", 10 * MINUTE, last_full(instant, 10 * MINUTE))
    best = max((price for _, _, price in bids), default=0)
    return [(item, price) for item, _, price in bids if price == best]


def new_users(streams: Streams, instant: int) -> Rows:
    sellers = {row[1] for row in last(streams, "auction", 1, instant)}
    return [row[:2] for row in last(streams, "person", 12 * HOUR, instant) if row[0] in sellers]


def last_full(instant: int, slide: int) -> int:
    """The latest instant at which a window that slides so far at once has moved (17.1)."""
    return (instant + 1) // slide * slide - 1


def answers(items: Sequence[int]) -> Mapping[int, Callable[[Streams, int], Rows]]:
    """The answers by the number of the query; `items` are those of the second."""
    return {
        1: currency_conversion,
        2: selection(items),
        3: local_item_suggestion,
        4: open_auctions,
        5: closing_price,
        6: average_closing_price,
        7: short_auctions,
        8: hot_items,
        9: average_selling_price,
        10: highest_bid,
        11: new_users,
    }


def instants(streams: Streams, names: Iterable[str]) -> list[int]:
    """Where an answer may change: some time after a row of one of these streams, and one second before."""
    found = set()
    for name in names:
        for time, _ in streams[name]:
            found.update(time + size for size in (0, 1, HOUR, 12 * HOUR))
            for slide, size in ((MINUTE, HOUR), (10 * MINUTE, 10 * MINUTE)):
                moved = -(-(time + 1) // slide) * slide - 1
                found.update((moved, moved + size))
    return sorted(found | {time - 1 for time in found})
