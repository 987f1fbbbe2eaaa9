"""Bytewax and streamz do the same work, where they are installed."""

from __future__ import annotations

import pytest
from comparing import compared

from midstream.benchmarks.contenders import contenders
from midstream.benchmarks.item import Item, workload
from midstream.benchmarks.items import ITEMS
from midstream.benchmarks.peers import INSTALL, PEERS, installed


def require(peer: str) -> None:
    """Skip where a peer is not installed."""
    if installed()[peer] is None:
        pytest.skip(f"{peer} is {INSTALL}")


@pytest.mark.parametrize("size", [1, 64, 1024])
@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_gives_the_same_elements(peer: str, item: Item, size: int) -> None:
    require(peer)
    work = workload(item, elements=1000, seed=5, window=100)
    found = {one.name: one for one in contenders(work, (size,), (peer,))}
    if peer == "streamz" and size > 1:
        assert peer not in found
        return
    by_hand = found["by hand"].run()
    assert by_hand
    assert sorted(found[peer].convert(found[peer].run())) == sorted(by_hand)


def test_versions_are_told_of_what_is_installed() -> None:
    assert set(installed()) == set(PEERS)
    for peer in PEERS:
        require(peer)
        version = installed()[peer]
        assert version is not None
        assert version[0].isdigit()


@pytest.mark.parametrize("peer", PEERS)
def test_a_peer_is_measured_beside_the_others(peer: str) -> None:
    require(peer)
    work = workload(ITEMS[0], elements=400, seed=1, window=20)
    result = compared(work, peers=(peer,))
    assert result.is_equal
    sizes = [one.batch_size for one in result.measured if one.name == peer]
    assert sizes == ([1] if peer == "streamz" else [1, 64])
