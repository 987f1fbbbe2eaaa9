"""The table of coverage in the documentation: `python -m midstream.scenarios.trials.sampling`."""

from __future__ import annotations

from midstream.scenarios.trials.sampling.coverage import coverage
from midstream.scenarios.trials.sampling.populations import POPULATIONS

HEAD = ("streams", "elements each", "drawn", "pairs found", "covered", "by Poisson", "width", "lower bound")


def main() -> None:
    """Print a line for every population, size and share."""
    print("| " + " | ".join(HEAD) + " |")
    print("|" + "---|" * len(HEAD))
    for name, population in POPULATIONS.items():
        for size in (200, 1000, 3000):
            recorded = population(size, 1)
            for share in (0.05, 0.2):
                found = coverage(recorded, share)
                print(
                    f"| {name} | {size:,} | {share:.0%} | {found.seen:,.0f} | {found.covered:.0%} "
                    f"| {found.poisson:.0%} | {found.width:.2g} | {1 - found.open:.0%} |"
                )


if __name__ == "__main__":
    main()
