"""The positive-negative approach: operators on signed streams, and converters from and to interval streams.

A signed stream has elements `(time, sign, payload)`, ordered by time: with a sign of 1 the validity of one
copy of the payload begins, with -1 it ends. In every prefix of the stream, no payload has ended more often
than it has begun. The snapshot at t is the payloads that have begun at t or before and have not ended.

Source   thesis, chapter 14 and 17.3
"""

from midstream.operators.signs.plans import RUNNING, signed_plan

__all__ = ["RUNNING", "signed_plan"]
