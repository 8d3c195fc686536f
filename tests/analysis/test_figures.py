"""Every registered figure: drawn, legible, honest about its seeds, and the same bytes each time."""

import re
from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib.collections import FillBetweenPolyCollection
from matplotlib.figure import Figure
from matplotlib.text import Text

from analysis import figures
from analysis.figures import grid, style
from analysis.stats.results import NotEnoughRuns, Results
from analysis.stats.stores import REFERENCE
from explore_suite.errors import UserError
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import CLASSIC, CONTROL, EXPLORE
from tests.helpers import synthetic
from tests.helpers.synthetic import stored

pytestmark = [pytest.mark.usefixtures("few_resamples"), pytest.mark.slow]


def numbers_of(root, cells) -> Results:
    return Results(stored(map(synthetic.invent, cells), root))


def draw(name: str, results: Results) -> Figure:
    with matplotlib.rc_context(style.RC):
        figure = figures.FIGURES[name](results)
        figure.draw_without_rendering()
    return figure


def texts(figure: Figure) -> list[Text]:
    return [text for text in figure.findobj(Text) if text.get_text().strip()]


def words(figure: Figure) -> str:
    return " ".join(text.get_text() for text in texts(figure))


def assert_legends_within(figure: Figure) -> None:
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1


def bands(figure: Figure) -> int:
    found = figure.findobj(FillBetweenPolyCollection)
    return sum(bool(band.get_paths() and len(band.get_paths()[0].vertices)) for band in found)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """States files of the grid's learners; the runs themselves are invented in memory."""
    found = ResultStore(tmp_path_factory.mktemp("runs"))
    for agent in ("ddqn", "ddqn_bbe", "ddqn_deep"):
        cell = synthetic.Cell(agent, "GridWorld", 0, 1)
        synthetic.write(found.root, [cell])
        synthetic.write_states(found, cell)
    return found


@pytest.fixture(scope="module")
def results(store):
    return numbers_of(store.root, synthetic.paper_cells(seeds=3))


@pytest.mark.parametrize("name", figures.FIGURES)
def test_each_figure_is_legible_says_its_seeds_and_fits_the_page(name, results):
    figure = draw(name, results)
    assert_legends_within(figure)
    assert min(text.get_fontsize() for text in texts(figure)) >= 7
    assert {text.get_fontfamily()[0] for text in texts(figure)} == {"DejaVu Sans"}
    assert figure.get_figwidth() <= style.WIDTH
    assert "3 seeds" in words(figure) or "seed 0" in words(figure)


@pytest.mark.slow
@pytest.mark.parametrize("name", figures.FIGURES)
def test_the_same_runs_give_the_same_bytes(name, results, store):
    first = figures.draw(name, results)
    again = Results(list(results.runs)[::-1])
    assert figures.draw(name, again) == first
    assert first["png"][:4] == b"\x89PNG" and b"<svg" in first["svg"]
    assert b"Matplotlib" not in first["svg"] and b"dc:date" not in first["svg"]


def test_figures_do_not_depend_on_digits_that_differ_between_machines():
    def clipped(nudge: float) -> Figure:
        figure = Figure(figsize=(2, 2))
        for left in (0.1, 0.6):
            axes = figure.add_axes((left + nudge, 0.1, 0.3, 0.8))
            axes.imshow(np.eye(round(5 * left) + 3), aspect="auto")
            axes.plot([0, 2], [0, 2], marker="o")
            axes.fill_between([0, 1], [0, 1], hatch="/")
        return figure

    first, second = (
        style.render(lambda nudge=nudge: clipped(nudge))["svg"] for nudge in (0, 1e-12)
    )
    assert first == second
    text = first.decode()
    ids = re.findall(r'\bid="([^"]+)"', text)
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', text)
    assert len(ids) == len(set(ids)) and set(used) <= set(ids)
    assert len({name for name in used if name.startswith("p")}) == 2, "a clip path for each panel"
    assert not re.search(r"[0-9a-f]{10}[\")]", text)


@pytest.mark.parametrize("name", figures.FIGURES)
def test_without_runs_a_figure_says_what_it_lacks(name, tmp_path):
    with pytest.raises(NotEnoughRuns, match="no |needed|only "):
        draw(name, numbers_of(tmp_path, []))


@pytest.mark.parametrize("name", ["learning_curves", "after_100_episodes", "hallway"])
def test_one_run_is_enough_to_draw(name, tmp_path):
    task = "HallwayAdversarial" if name == "hallway" else "WalkerWalk"
    figure = draw(name, numbers_of(tmp_path, [synthetic.Cell("sac", task, 0)]))
    assert "1 seed, too few for an interval" in words(figure)
    assert "SAC+DEEP" not in words(figure)


@pytest.mark.slow
def test_bands_need_three_seeds(tmp_path):
    cells = synthetic.cells(("sac",), ("WalkerWalk",), 2, 30)
    assert bands(draw("learning_curves", numbers_of(tmp_path, cells))) == 0
    cells = synthetic.cells(("sac",), ("WalkerWalk",), 3, 30)
    assert bands(draw("learning_curves", numbers_of(tmp_path, cells))) == 1


def test_unequal_seeds_are_counted_by_agent(tmp_path):
    cells = synthetic.cells(("sac",), ("WalkerWalk",), 5, 30)
    cells += synthetic.cells(("sac_deep",), ("WalkerWalk",), 2, 30)
    found = words(draw("learning_curves", numbers_of(tmp_path, cells)))
    assert "SAC (5 seeds)" in found and "SAC+DEEP (2 seeds)" in found
    assert "none below 3 seeds" in found


def test_returns_are_drawn_from_zero_with_the_best_return_as_a_line(results):
    figure = draw("hallway", results)
    for axes, best in zip(figure.axes, (832.9, 981.1), strict=True):
        assert axes.get_ylim()[0] == 0 and axes.get_xlim()[0] == 0
        assert any(set(line.get_ydata()) == {best} for line in axes.lines)


def test_a_line_is_the_curve_and_nothing_else(results):
    axes = draw("learning_curves", results).axes[3]
    assert axes.get_title() == "WalkerWalk"
    drawn = {line.get_color(): line.get_ydata() for line in axes.lines}
    for agent in ("sac", "sac_bbe", "sac_deep"):
        curve = results.curve(agent, "WalkerWalk")
        np.testing.assert_array_equal(drawn[style.STYLES[agent].colour], curve["mean"])


def test_a_warm_start_is_not_drawn(results):
    axes = draw("grid_warm_start", results).axes[0]
    assert max(line.get_xdata()[-1] for line in axes.lines) == 320 - 20


def test_agents_of_one_figure_differ_in_colour_line_and_marker():
    for agents in (synthetic.AGENTS, grid.LEARNERS, grid.WARM, grid.PURE):
        styles = [style.style(agent) for agent in agents]
        assert len({one.colour for one in styles}) == len(agents)
        assert len({one.marker for one in styles}) == len(agents)
        assert len({str(one.line) for one in styles}) >= len(agents) - 1


def test_an_agent_of_others_joins_the_suite_under_its_own_name(tmp_path):
    cells = synthetic.cells(("sac_deep", "theirs", "another"), synthetic.SUITE, 3)
    results = numbers_of(tmp_path, cells)
    assert results.methods == ["sac_deep", "another", "theirs"]
    assert "theirs" in words(draw("suite_aggregates", results))
    assert "theirs > SAC+DEEP" in words(draw("suite_improvement", results))


@pytest.mark.slow
def test_classic_pairs_have_a_figure_of_their_own(tmp_path):
    control = synthetic.cells(("sac", "sac_deep"), synthetic.SUITE, 3)
    classic = synthetic.cells(("sac", "sac_deep"), synthetic.CLASSIC, 3)
    both = numbers_of(tmp_path / "both", control + classic)
    for name, titles in (
        ("cost_of_exploring", ["Ball in cup", "Reacher", "Finger", "Walker"]),
        ("classic_cost_of_exploring", ["Cartpole", "Pendulum", "Cheetah"]),
        ("classic", list(CLASSIC)),
    ):
        assert [axes.get_title() for axes in draw(name, both).axes] == titles
    alone = numbers_of(tmp_path / "control", control)
    with pytest.raises(NotEnoughRuns):
        figures.FIGURES["classic_cost_of_exploring"](alone)


GUESTS = ("learning_curves", "after_100_episodes", "cost_of_exploring", "hallway",
          "suite_sample_efficiency", "suite_profiles", "suite_aggregates")  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", GUESTS)
def test_guests_stand_beside_the_papers_methods_and_can_be_chosen(name, tmp_path):
    tasks = [*synthetic.SUITE, *synthetic.HALLWAYS]
    results = numbers_of(tmp_path, synthetic.cells(("sac", "sac_deep", "mine"), tasks, 3))
    assert {"SAC", "SAC+DEEP", "mine"} <= set(labels(draw(name, results)))
    chosen = set(labels(draw(name, results.only(["mine", "sac"]))))
    assert {"SAC", "mine"} <= chosen and "SAC+DEEP" not in chosen
    with pytest.raises(UserError, match="no runs of yours; there are sac, sac_deep, mine"):
        results.only(["yours"])


@pytest.mark.slow
def test_reference_runs_that_are_no_method_of_the_paper_are_no_guests(tmp_path):
    cells = synthetic.cells(("sac", "sac_bbe.scale_10"), synthetic.SUITE, 3)
    runs = [replace(run, origin=REFERENCE) for run in numbers_of(tmp_path, cells).runs]
    assert set(labels(draw("learning_curves", Results(runs)))) == {"SAC"}


@pytest.mark.slow
def test_all_methods_are_ranked_by_their_exploration_but_no_ablation(tmp_path):
    agents = ("sac", "sac_deep", "sac_oac", "sac_bbe.scale_10")
    cells = synthetic.cells(agents, synthetic.SUITE, 3) + synthetic.cells(("mine",), EXPLORE, 3)
    runs = [
        replace(run, origin=REFERENCE if run.method in agents else run.origin)
        for run in numbers_of(tmp_path, cells).runs
    ]
    results = Results(runs)
    explore, original = draw("all_methods", results).axes
    drawn = [text.get_text() for text in explore.get_yticklabels()]
    assert sorted(drawn) == ["OAC", "SAC", "SAC+DEEP", "mine"]
    names = {"sac": "SAC", "sac_deep": "SAC+DEEP", "sac_oac": "OAC", "mine": "mine"}
    means = {name: results.matrix(key, EXPLORE).values.mean() for key, name in names.items()}
    assert drawn == sorted(means, key=lambda name: -means[name])
    assert len(explore.lines) == 4 * 3 and len(original.lines) == 3 * 3, "mine has no originals"
    with pytest.raises(NotEnoughRuns, match="no method beyond the paper's"):
        figures.FIGURES["all_methods"](results.only(["sac", "sac_deep"]))


def labels(figure: Figure) -> list[str]:
    """What the legend names."""
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_an_agent_that_lacks_a_task_is_left_out_of_its_groups_only(tmp_path):
    cells = synthetic.cells(("sac", "sac_deep"), synthetic.SUITE, 3)
    cells = [cell for cell in cells if (cell.agent, cell.task) != ("sac", "WalkerExplore")]
    results = numbers_of(tmp_path, cells)
    drawn = [len(axes.lines) for axes in draw("suite_sample_efficiency", results).axes]
    assert drawn == [2, 1, 1]
    assert "sac: no run with a score on WalkerExplore" in results.missing()


@pytest.mark.parametrize(
    ("name", "evaluations"),
    [("learning_curves", 21), ("two_q", 21), ("suite_sample_efficiency", 21), ("hallway", 6),
     ("grid_warm_start", 11)],
)  # fmt: skip
def test_captions_say_that_curves_are_smoothed(name, evaluations, results):
    assert f"smoothed over {evaluations} evaluations" in words(draw(name, results))


def test_a_legend_that_names_numbers_of_seeds_stays_within_the_page(tmp_path):
    cells = synthetic.cells(grid.PURE, ("GridWorld",), 1, 300)
    results = numbers_of(tmp_path, [*cells, synthetic.Cell("random", "GridWorld", 1, 300)])
    assert_legends_within(draw("grid_pure_exploration", results))


def test_a_score_of_nothing_differs_from_no_score(tmp_path):
    run = synthetic.invent(synthetic.Cell("sac", "WalkerWalk", 0))
    nothing = run._replace(rows=[row._replace(return_=0.0) for row in run.rows])
    figure = draw("after_100_episodes", Results(stored([nothing])))
    (dots,) = [dots for dots in figure.axes[0].collections if len(dots.get_offsets())]
    assert dots.get_offsets()[0][1] == 0 and not dots.get_clip_on()
    empty = [text for text in texts(figure) if text.get_text() == "no score yet"]
    walker = [label.get_text() for label in figure.axes[0].get_xticklabels()].index("Walker\nWalk")
    assert {text.get_position()[0] for text in empty} == set(range(8)) - {walker}


def test_a_bar_is_the_mean_with_its_interval_and_the_seeds_as_dots(results):
    axes = draw("after_100_episodes", results).axes[0]
    shown = {round(bar.get_height(), 6) for bar in axes.patches}
    ends = [(np.nanmin(line.get_ydata()), np.nanmax(line.get_ydata())) for line in axes.lines]
    dots = {round(y, 6) for some in axes.collections for _, y in some.get_offsets()}
    for task in CONTROL:
        estimate, seeds = results.score("sac", task)
        assert round(estimate.value, 6) in shown and {round(seed, 6) for seed in seeds} <= dots
        assert any(end == pytest.approx((estimate.low, estimate.high)) for end in ends)


def test_an_agent_worse_than_random_is_drawn_within_its_panels(tmp_path):
    runs = map(synthetic.invent, synthetic.cells(("sac",), synthetic.SUITE, 3))
    below = [run._replace(rows=[row._replace(return_=-100.0) for row in run.rows]) for run in runs]
    figure = draw("suite_aggregates", Results(stored(below)))
    for axes in figure.axes:
        low, high = axes.get_xlim()
        assert low <= axes.dataLim.x0 and axes.dataLim.x1 <= high
    assert figure.axes[3].dataLim.x1 > 1  # the optimality gap


def test_the_ends_of_an_interval_are_taller_than_the_marker_between_them(results):
    axes = draw("suite_aggregates", results).axes[0]
    _, point, ends = axes.lines[:3]
    assert ends.get_marker() == "|" and len(ends.get_xdata()) == 2
    assert ends.get_markersize() > point.get_markersize() and ends.zorder > point.zorder


def test_the_scale_of_scores_says_that_1_may_be_a_bound(results):
    assert "1: best return known or its bound" in words(draw("suite_aggregates", results))


def test_a_new_figure_is_one_function_and_one_line(results, monkeypatch):
    def dummy(of: Results) -> Figure:
        figure, (axes,) = style.page(1, 1, width=style.COLUMN, height=2)
        style.draw_band(axes, of.curve("sac", "WalkerWalk"), style.style("sac"), "episode", "mean")
        return figure

    monkeypatch.setitem(figures.FIGURES, "dummy", dummy)
    assert set(figures.draw("dummy", results)) == {"svg", "png"}


def test_users_methods_have_colours_that_no_reference_method_has():
    ours = {one.colour for one in style.STYLES.values()}
    found = [style.style(f"method-{number:02}") for number in range(40)]
    assert not {one.colour for one in found} & ours
    assert len({one.colour for one in found}) > 8 and len({one[1:] for one in found}) > 30
