"""The limits of a budget: memory, and a share of the processor."""

from __future__ import annotations

import math
import re
from dataclasses import asdict, dataclass
from typing import Any

from midstream.optimizer.allocation.curves import Use
from midstream.plans.values.arguments import require_number, wrong
from midstream.plans.values.errors import ArgumentError
from midstream.plans.values.finite import is_finite

SLACK = 1e-9
"""The relative excess that counts as rounding."""

BYTES = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
}


@dataclass(frozen=True, slots=True)
class Limits:
    """The most memory in bytes, and the most processing in microseconds per chronon; infinite if not limited.

    >>> Limits(memory=1000.0).hold(Use(memory=900.0, processor=7.0))
    True
    """

    memory: float = math.inf
    processor: float = math.inf

    @property
    def are_two(self) -> bool:
        """True if both resources are limited."""
        return self.memory < math.inf and self.processor < math.inf

    def hold(self, use: Use) -> bool:
        """True if a use is within the limits."""
        return use.memory <= self.memory * (1 + SLACK) and use.processor <= self.processor * (1 + SLACK)

    def times(self, share: float) -> Limits:
        """A share of the limits."""
        return Limits(self.memory * share, self.processor * share)

    def at_least(self, use: Use) -> Limits:
        """The nearest limits that hold a use."""
        return Limits(max(self.memory, use.memory), max(self.processor, use.processor))

    def rounded_up(self, chronon: float) -> Limits:
        """The next larger limits that texts show in full: three digits of memory, hundredths of a percent.

        >>> Limits(memory=45_610.0).rounded_up(1.0)
        Limits(memory=45700.0, processor=inf)
        """
        memory, share = self.memory, self.processor / chronon
        if memory < math.inf:
            digit = 10.0 ** (math.floor(math.log10(max(memory, 1.0))) - 2)
            memory = math.ceil(memory / digit * (1 - SLACK)) * digit
        if share < math.inf:
            share = math.ceil(share * 1e4 * (1 - SLACK)) / 1e4
        return Limits(memory, share * chronon)

    def cost(self, use: Use, mixture: float) -> float:
        """A use as a part of the limits: of memory, and by the share `mixture` of the processor."""
        parts = []
        if self.memory < math.inf:
            parts.append((1 - mixture) * use.memory / self.memory)
        if self.processor < math.inf:
            parts.append(mixture * use.processor / self.processor)
        return math.fsum(parts)

    def as_dict(self) -> dict[str, float | None]:
        """Plain data for JSON; None for no limit."""
        return {name: None if math.isinf(one) else one for name, one in asdict(self).items()}

    def excess(self, use: Use) -> float:
        """A use as a multiple of the limits: the largest of both resources."""
        return max(use.memory / self.memory, use.processor / self.processor)


def limits_of(where: str, memory: Any, processor: Any, chronon: float) -> Limits:
    """The limits of a budget; None is no limit, and a chronon lasts so many microseconds.

    Raises   ArgumentError where neither is limited, or one is no such number.

    >>> limits_of("fit", "1 MB", "30%", chronon=1000.0)
    Limits(memory=1000000.0, processor=300.0)
    """
    if memory is None and processor is None:
        raise ArgumentError(f"{where}: found no limit, expected memory=, processor= or both")
    require_number(f"{where}: chronon", chronon, "microseconds", above=0)
    return Limits(
        math.inf if memory is None else bytes_of(memory, f"{where}: memory"),
        math.inf if processor is None else share_of(processor, f"{where}: processor") * chronon,
    )


def bytes_of(memory: Any, where: str) -> float:
    """A number of bytes, from a number or a text such as 100MB or 1.5 GiB.

    Raises   ArgumentError for anything else.

    >>> bytes_of("1.5 MB", "memory"), bytes_of(4096, "memory"), bytes_of("64 KiB", "memory")
    (1500000.0, 4096.0, 65536.0)
    """
    expected = "bytes, such as 1000000, '1MB' or '1 MiB'"
    if isinstance(memory, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", memory)
        units = {name.lower(): size for name, size in BYTES.items()}
        if match is None or (match[2] or "B").lower() not in units:
            raise wrong(where, memory, expected)
        memory = float(match[1]) * units[(match[2] or "B").lower()]
    if (
        isinstance(memory, bool)
        or not isinstance(memory, int | float)
        or not is_finite(memory)
        or memory <= 0
    ):
        raise wrong(where, memory, expected)
    return float(memory)


def share_of(processor: Any, where: str) -> float:
    """A share of one processor, from a number up to 1 or a text such as 30%.

    Raises   ArgumentError for anything else.

    >>> share_of("30%", "processor"), share_of(0.3, "processor")
    (0.3, 0.3)
    """
    expected = "a share of one processor, such as 0.3 or '30%'"
    number = processor
    if isinstance(processor, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*%\s*", processor)
        if match is None:
            raise wrong(where, processor, expected)
        number = float(match[1]) / 100
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number <= 1:
        raise wrong(where, processor, expected)
    return float(number)
