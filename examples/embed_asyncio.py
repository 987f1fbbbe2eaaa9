"""Exchange a plan inside an asyncio service, while producers go on. Nothing of our engine is used.

python examples/embed_asyncio.py
"""

import asyncio
from collections import Counter
from random import Random

from embed_callables import CallableBox, Tagged, keep

import midstream as ms
from midstream.boxes import Box, migrate_box, settled
from midstream.migration import find_strategy


class CountBy:
    """How many payloads are valid, by their first field: all counts anew whenever one comes or goes."""

    def __init__(self) -> None:
        self.kept, self.since = [], ms.BEGINNING

    def __call__(self, tagged: Tagged, now: float) -> Tagged:
        counts: Tagged = []
        for _, element in tagged:
            counts += self.until(element[0])
            self.kept.append((0, element))
        return counts + self.until(now)

    def until(self, time: float) -> Tagged:
        """The counts up to an instant. It need not be an integer: a new plan begins at one such as 40.5."""
        counts: Tagged = []
        for at in [*sorted({one[1] for _, one in self.kept if one[1] < time}), time]:
            if at > self.since:
                found = Counter(payload[0] for _, (_, _, payload) in self.kept)
                counts += [(0, (self.since, at, key_and_count)) for key_and_count in found.items()]
                self.since = at
                self.kept = [one for one in self.kept if one[1][1] > at]
        return counts


def count_then_filter() -> CallableBox:
    """How many orders of even articles are there in two shops: the running plan."""
    return CallableBox(("north", "south"), CountBy(), keep(lambda row: row[0] % 2 == 0))


def filter_then_count() -> CallableBox:
    """The same by a better plan."""
    return CallableBox(("north", "south"), keep(lambda row: row[0] % 2 == 0, (0, 1)), CountBy())


class Service:
    """One task feeds the Box; an exchange comes between two of its events, for neither awaits anything."""

    def __init__(self, box: Box) -> None:
        self.box, self.results = box, []
        self.inbox: asyncio.Queue = asyncio.Queue(maxsize=32)
        self.under_way: list[tuple[ms.Migration, asyncio.Event]] = []
        # Known to the service and not only to a box, for it must outlive all of them.
        self.max_ends = [ms.BEGINNING for _ in box.inputs]
        self.reached = [ms.BEGINNING for _ in box.inputs]

    async def run(self) -> None:
        """Take (port, elements, how far the port is behind them) until all inputs have ended."""
        while min(self.reached) < ms.FOREVER:
            port, batch, time = await self.inbox.get()
            if batch:
                self.max_ends[port] = max(self.max_ends[port], *(end for _, end, _ in batch))
                self.results += self.box.push(port, batch)[0]
            self.results += self.box.advance(port, time)[0]
            self.reached[port] = time
            self.box = settled(self.box)
            for migration, over in self.under_way:
                if migration.successor is not None:
                    over.set()

    async def migrate(self, new: Box, strategy: str = "genmig") -> ms.Migration:
        """Return when it is over; one under way becomes part of the old plan. What is refused raises here."""
        how = find_strategy(strategy)
        migration, (ready,) = migrate_box(self.box, new, how, self.max_ends, self.reached)
        self.box, over = migration, asyncio.Event()
        self.results += ready
        self.under_way.append((migration, over))
        await over.wait()
        return migration


async def serve(orders: list, is_moving: bool) -> tuple[list, list]:
    """The results, and the migrations: to the better plan and, before that is over, back again."""
    service = Service(count_then_filter())

    async def feed(port: int, events: list) -> None:
        for event in [*events, ([], ms.FOREVER)]:
            await service.inbox.put((port, *event))
            await asyncio.sleep(0)

    async def move() -> list:
        while min(service.reached) < 200:
            await asyncio.sleep(0)
        return await asyncio.gather(*map(service.migrate, (filter_then_count(), count_then_filter())))

    # A shop without orders says at least that time goes on; else no migration would ever end.
    sold, idle = [([one], one[0]) for one in orders], [([], time) for time in range(0, 800, 2)]
    tasks = [service.run(), feed(0, sold), feed(1, idle), *([move()] if is_moving else [])]
    _, _, _, *moved = await asyncio.gather(*tasks)
    return service.results, [migration for pair in moved for migration in pair]


def main() -> None:
    """Serve the same orders with and without migrations; each is valid for 60 seconds."""
    rng = Random(7)
    orders = [(2 * t, 2 * t + 60, (rng.randrange(9),)) for t in range(400)]
    results, migrations = asyncio.run(serve(orders, is_moving=True))
    verdict = ms.equivalent(results, asyncio.run(serve(orders, is_moving=False))[0])
    print(verdict, *map(ms.report, migrations), sep="\n")
    assert verdict


if __name__ == "__main__":
    main()
