"""Charts as text and as pictures: regions, names of plans, and a stream's way."""

from __future__ import annotations

import io
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from midstream.optimizer.charts.chart import Chart, Dimension
from midstream.optimizer.charts.fidelity import Step, trajectory
from midstream.optimizer.charts.naming import plan_names
from midstream.optimizer.charts.printing import BEYOND, chart_text, mark
from midstream.optimizer.charts.slices import PANELS, slices
from midstream.plans.algebra.builder import stream
from midstream.plans.expressions.aggregates import count

S = stream("s", x="integer", y="integer")
PLANS = tuple(S.filter(S["x"] > i).plan() for i in range(40))
A, B, C = (stream(name, **{name: "integer"}).window(60) for name in "abc")


def square(*best: int, parts: int = 3) -> Chart:
    dimensions = (Dimension("rate(s)", 0, 3, parts), Dimension("share", 0, 1, len(best) // parts))
    return Chart(dimensions, PLANS[: max(best) + 1], best)


def cube(parts: int, dimensions: int = 3) -> Chart:
    names = [Dimension(name, 0, parts, parts) for name in "xyzv"[:dimensions]]
    return Chart(tuple(names), PLANS[:2], (0, 1) * (parts**dimensions // 2) + (0,) * (parts**dimensions % 2))


def test_names_of_plans() -> None:
    ab = A.join(B, on=[("a", "b")])
    plans = [
        ab.join(C, on=[("b", "c")]).plan(),
        A.join(B.join(C, on=[("b", "c")]), on=[("a", "b")]).plan(),
        A.filter(A["a"] > 7).join(B).plan(),
        S.filter(S["x"] > 7).filter(S["y"] > 7).plan(),
        S.filter(S["y"] > 7).filter(S["x"] > 7).plan(),
        ab.aggregate(n=count()).plan(),
        A.select(v=A["a"]).union(B.select(v=B["b"])).plan(),
    ]
    assert plan_names(plans) == (
        "(a ⋈ b) ⋈ c",
        "a ⋈ (b ⋈ c)",
        "(a | a > 7) × b",
        "s | x > 7 | y > 7",
        "s | y > 7 | x > 7",
        "(a ⋈ b) | aggregate",
        "a ∪ b",
    )


def test_names_that_would_be_the_same_are_numbered() -> None:
    assert plan_names([A.plan(), A.select(v=A["a"]).plan(), B.plan()]) == ("a #1", "a #2", "b")


def test_a_grid_is_read_from_below_and_from_the_left() -> None:
    # best, by parts of the rate, then of the share: at the least rate plans 1 and 2, at the most plan 3.
    text = chart_text(square(0, 1, 0, 1, 2, 2))
    assert text.splitlines() == [
        "3 plans, 3 regions, 6 places",
        "1  s | x > 0   33 % of the places",
        "2  s | x > 1   33 % of the places",
        "3  s | x > 2   33 % of the places",
        "",
        "  share, up, from 0 to 1",
        "  223",
        "  113",
        "  rate(s), to the right, from 0 to 3",
    ]


def test_a_way_is_told_with_its_moves_and_switches() -> None:
    chart = square(0, 1, 0, 1, 2, 2)
    way = trajectory(chart, [(0.5, 0.1), (1.5, 0.1), (1.6, 0.1), (2.5, 0.9), (0.5, 0.9)])
    assert way.steps[3] == Step((2.5, 0.9), (2, 1), 2)
    assert (way.moves, way.switches) == (3, 2)
    assert chart_text(chart, way).endswith("5 rounds: 3 moves to another place, 2 switches to another plan")
    one = trajectory(chart, [(0.5, 0.1)])
    assert chart_text(chart, one).endswith("1 round: 0 moves to another place, 0 switches to another plan")


def test_marks_are_one_letter_each() -> None:
    marks = [mark(i) for i in range(40)]
    assert len(set(marks[:35])) == 35 and set(map(len, marks)) == {1}
    assert set(marks[35:]) == {BEYOND}


@given(st.integers(1, 7), st.integers(1, 4))
def test_slices_show_a_part_of_each_further_dimension(parts: int, dimensions: int) -> None:
    chart = cube(parts, dimensions)
    shown = slices(chart)
    assert len(shown) == (1 if dimensions < 3 else min(PANELS, parts))
    assert len({one.beyond for one in shown}) == len(shown)
    for one in shown:
        for up, row in enumerate(one.rows()):
            for across, number in enumerate(row):
                place = one.place(across, up)
                assert len(place) == dimensions
                assert number == chart.number_at(place)


class TestPictures:
    """What a figure has in it."""

    @pytest.fixture(autouse=True)
    def needs_matplotlib(self) -> None:
        pytest.importorskip("matplotlib", reason="needs matplotlib: pip install 'midstream[plot]'")

    def test_each_region_has_the_name_of_its_plan(self) -> None:
        from midstream.optimizer.charts.drawing import draw_chart

        # The middle column parts plan 1 into two regions; the last region is too narrow for a name.
        chart = square(*[0] * 4, *[1] * 4, *[0] * 3, 2, *[0] * 4, *[0] * 4, parts=5)
        (axes,) = draw_chart(chart).axes
        texts = sorted(text.get_text() for text in axes.texts)
        assert texts == ["1", "2", "3", "s | x > 0"]
        at = {text.get_text(): text.get_position() for text in axes.texts}
        assert at["3"] == (pytest.approx(1.5), pytest.approx(0.875))

    def test_the_legend_names_all_plans_and_what_the_stream_did(self) -> None:
        from midstream.optimizer.charts.drawing import draw_chart

        chart = square(0, 1, 0, 1, 2, 2)
        way = trajectory(chart, [(0.5, 0.1), (1.5, 0.1), (2.5, 0.9), (99.0, -1.0)])
        figure = draw_chart(chart, way, "A query")
        (legend,) = figure.legends
        assert [text.get_text() for text in legend.get_texts()] == [
            "1  s | x > 0",
            "2  s | x > 1",
            "3  s | x > 2",
            "4 rounds, 3 moves to another place",
            "1 switches to another plan",
        ]
        (axes,) = figure.axes
        _, _, lines = axes.collections[:3]
        # Beyond the ranges, a round is drawn at their ends.
        assert [tuple(end) for end in lines.get_segments()[-1]] == [(2.5, 0.9), (3.0, 0.0)]
        dots = axes.collections[3].get_offsets()
        assert [tuple(dot) for dot in dots] == [(2.5, 0.9)]

    def test_equal_factors_are_equally_long(self) -> None:
        from midstream.optimizer.charts.drawing import draw_chart

        rate = Dimension("rate(s)", 1, 10_000, 4, is_logarithmic=True)
        chart = Chart((rate, Dimension("share", 0, 1, 1)), PLANS[:2], (0, 0, 1, 1))
        (axes,) = draw_chart(chart).axes
        assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
        places = [text.get_position()[0] for text in axes.texts]
        assert places == [pytest.approx(10), pytest.approx(1000)]

    @pytest.mark.parametrize("dimensions", [1, 2, 3, 4])
    def test_a_round_is_in_one_panel(self, dimensions: int) -> None:
        from midstream.optimizer.charts.drawing import draw_chart

        chart = cube(6, dimensions)
        random = Random(1)
        points = [tuple(random.uniform(0, 6) for _ in range(dimensions)) for _ in range(30)]
        way = trajectory(chart, points)
        figure = draw_chart(chart, way)
        assert len(figure.axes) == (1 if dimensions < 3 else PANELS)
        dots = sum(len(c.get_offsets()) for axes in figure.axes for c in axes.collections[3:])
        assert dots == way.switches > 0

    @pytest.mark.parametrize("form", ["svg", "png"])
    def test_a_picture_has_a_ground_of_its_own(self, form: str) -> None:
        """So that its dark texts can be read on a dark page."""
        from matplotlib.colors import to_hex

        from midstream.optimizer.charts.drawing import GROUND, draw_chart

        figure = draw_chart(square(0, 1, 0, 1, 2, 2))
        assert to_hex(figure.get_facecolor()) == GROUND
        file = io.BytesIO()
        figure.savefig(file, format=form)
        assert len(file.getvalue()) > 1000
