"""An engine of plain callables re-optimises itself: an autopilot that is told of keys decides.

python examples/embed_autopilot.py
"""

from collections.abc import Callable, Iterator
from random import Random

from embed_callables import CallableBox, Tagged

import midstream as ms
from midstream.autopilot import Decision, KeyCounts
from midstream.boxes import migrate_box, settled
from midstream.migration import find_strategy

WINDOW = 200
INPUTS = {"a": ("a.x",), "b": ("b.x", "b.y"), "c": ("c.y",)}


class Pairs:
    """Pair the payloads of two ports that agree in a column of each, as one of `left`; others pass."""

    def __init__(self, left: int, column: int, right: int, other: int) -> None:
        self.columns = {left: column, right: other}
        self.left, self.kept, self.given = left, [], 0

    def __call__(self, tagged: Tagged, now: float) -> Tagged:
        out: Tagged = []
        for port, (start, end, row) in tagged:
            if port not in self.columns:
                out.append((port, (start, end, row)))
                continue
            for side, (_, until, other) in self.kept:
                if side != port and until > start and other[self.columns[side]] == row[self.columns[port]]:
                    pair = row + other if port == self.left else other + row
                    out.append((self.left, (start, min(end, until), pair)))
            self.kept.append((port, (start, end, row)))
        self.kept = [one for one in self.kept if one[1][1] > now]
        self.given += sum(port == self.left for port, _ in out)
        return out


PLANS: dict[str, Callable[[], CallableBox]] = {
    "a, b first": lambda: CallableBox(INPUTS, Pairs(0, 0, 1, 0), Pairs(0, 2, 2, 0)),
    "b, c first": lambda: CallableBox(INPUTS, Pairs(1, 1, 2, 0), Pairs(0, 0, 1, 0)),
}


def run(stream: Tagged, running: str, decides: bool = True) -> tuple[list, int, list[Decision]]:
    """The results, how many pairs first joins gave, and the moves."""
    pilot = ms.Autopilot(running, WINDOW)
    known = KeyCounts({"a, b first": ("a.x", "b.x"), "b, c first": ("b.y", "c.y")}, WINDOW)
    box = PLANS[running]()
    boxes, results, moves, look_at, to = [box], [], [], 0, running
    for port, (start, end, row) in stream:
        if decides and start >= look_at:
            look_at = start + WINDOW // pilot.settings.looks
            for idle in range(len(INPUTS)):  # all inputs have come to this instant
                results += box.advance(idle, start)[0]
            box = settled(box)
            if box is boxes[-1] and to != pilot.running:
                pilot.ended(start, to)
            until_split = max(0, max(boxes[-1].max_ends) - start)
            spent, advice = sum(one.steps[0].given for one in boxes), known.advise(pilot.running, start)
            decision = pilot.decide(start, advice, until_split, ["genmig"], spent)
            if decision.to is not None:
                moves.append(decision)
                pilot.begun(start, to := decision.to, "genmig", until_split)
                boxes.append(PLANS[to]())
                old, strategy = boxes[-2], find_strategy("genmig")
                box, (ready,) = migrate_box(old, boxes[-1], strategy, old.max_ends, old.reached)
                results += ready
        known.take(start, dict(zip(list(INPUTS.values())[port], row, strict=True)))
        results += box.push(port, [(start, end, row)])[0]
    for port in range(len(INPUTS)):
        results += box.end(port)[0]
    return results, sum(one.steps[0].given for one in boxes), moves


def flip(random: Random, windows: int = 40) -> Iterator[tuple[int, tuple]]:
    """First x has few values, then y."""
    for start in range(0, windows * WINDOW, 4):
        few, many, port = random.randrange(4), random.randrange(20), random.randrange(3)
        row = (few, many) if start < windows * WINDOW / 2 else (many, few)
        yield port, (start, start + WINDOW, (row[:1], row, row[1:])[port])


def main() -> None:
    """What it costs to decide, and what each plan costs that runs all the time."""
    stream = list(flip(Random(7)))
    results, pairs, moves = run(stream, "a, b first")
    print(*moves, f"pairs: {pairs:,}", sep="\n")
    for plan in PLANS:
        alone, cost, _ = run(stream, plan, decides=False)
        print(f"{plan} all the time: {cost:,}; {ms.equivalent(results, alone)}")


if __name__ == "__main__":
    main()
