"""Which running operator carries out an implementation."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from midstream.operators.base.operator import Operator
from midstream.plans.algebra.implementations import Implementation
from midstream.plans.algebra.plan import Node

Make = Callable[[Node], Operator]
"""Builds the running operator of a physical node, whose inputs are physical too."""

Running = Mapping[Implementation, Make]
"""Every module with running operators ends in one."""
