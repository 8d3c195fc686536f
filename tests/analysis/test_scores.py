"""From run files to scores, matrices and curves, against tables worked out by hand."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from analysis.stats import curves, tables
from analysis.stats.curves import shared_length, width
from analysis.stats.intervals import estimate
from analysis.stats.results import Results
from analysis.stats.stores import LOCAL, REFERENCE
from explore_suite.errors import UserError
from explore_suite.runs.format import Run
from explore_suite.tasks import TASKS, lookup
from tests.helpers import synthetic, synthetic_claims
from tests.helpers.synthetic import stored

TASK = "BallInCupExplore"  # random actions earn 0 there, the best return is 1000


def run(agent="a", task=TASK, seed=0, episodes=110, value=float, preset="cpu") -> Run:
    """Evaluations return `value(episode)`, training nothing; coverage is episode / 1000."""
    found = synthetic_claims.run(agent, task, seed, episodes, value, lambda e: e / 1000)
    return found._replace(header=dataclasses.replace(found.header, preset=preset))


def table(*runs: Run) -> pd.DataFrame:
    return tables.episode_table(stored(runs))


def by_task(*runs: Run) -> dict[str, pd.DataFrame]:
    return dict(list(table(*runs).groupby("task", sort=False)))


def curve(*arguments, **options) -> pd.DataFrame:
    return curves.mean_curve(curves.seed_curves(*arguments, **options))


def score_of(one: Run) -> pd.Series:
    return tables.run_scores(table(one)).iloc[0]


def test_a_table_holds_every_row_of_the_store(tmp_path):
    cells = synthetic.cells(("sac", "sac_deep"), (TASK, "GridWorld"), 2, episodes=3)
    synthetic.write(tmp_path, cells)
    runs, left_out = tables.load([tmp_path])
    found = tables.episode_table(runs)
    assert left_out == []
    assert len(found) == 2 * 2 * 2 * 3 * 2
    assert list(found.columns) == tables.EPISODE_COLUMNS
    expected = synthetic.invent(cells[1]).rows[3]
    row = found[(found.agent == "sac") & (found.task == TASK) & (found.seed == 1)].iloc[3]
    assert tuple(row[3:11]) == tuple(expected)
    assert row.finished and row.episodes == 3


def test_headers_say_where_each_run_comes_from(tmp_path):
    synthetic.write(tmp_path, synthetic.cells(("sac",), (TASK,), 2, episodes=1))
    found = tables.headers(tables.load([tmp_path])[0])
    assert found.seed.tolist() == [0, 1]
    assert (found.source == synthetic.SOURCE).all()
    assert found.versions[0] == {"mujoco": "0.0.0"}


def test_an_empty_store_gives_empty_tables_and_one_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(UserError, match="there is no store .*nowhere"):
        tables.load([tmp_path / "nowhere"])
    found = tables.load_results(tmp_path)
    assert found.empty and list(found.columns) == tables.EPISODE_COLUMNS
    assert list(tables.run_scores(found).columns) == tables.SCORE_COLUMNS


@pytest.mark.parametrize(
    ("episodes", "expected"),
    [(110, 100.5), (200, 100.5), (109, np.nan), (100, np.nan), (5, np.nan)],
)
def test_a_score_is_the_mean_of_the_evaluations_in_the_whole_window(episodes, expected):
    found = score_of(run(episodes=episodes))
    np.testing.assert_allclose(found.score, expected)
    np.testing.assert_allclose(found.normalised, expected / 1000)


@pytest.mark.parametrize(
    ("episodes", "last", "expected"), [(200, 10, 195.5), (50, 10, 45.5), (5, 2, 4.5), (3, 10, 2.0)]
)
def test_a_look_at_short_runs_scores_their_last_evaluations(episodes, last, expected):
    """Of returns equal to the episode's number."""
    found = tables.run_scores(table(run(episodes=episodes)), last).iloc[0]
    assert (found.score, found.coverage) == (expected, episodes / 1000)


def test_a_run_without_evaluations_has_no_last_ones():
    begun = run(episodes=1)
    found = tables.run_scores(table(Run(begun.header, begun.rows[:1])), 10).iloc[0]
    assert np.isnan(found.score) and np.isnan(found.coverage)


@pytest.mark.parametrize("missing", [91, 95, 107])
def test_a_gap_in_the_window_makes_no_score(missing):
    whole = run()
    rows = [row for row in whole.rows if not (row.phase == "eval" and row.episode == missing)]
    assert np.isnan(score_of(Run(whole.header, rows)).score)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_an_evaluation_that_is_not_finite_makes_no_score(value):
    whole = constant("a", TASK, 0, 10.0)
    for episode, counts in ((100, True), (1, False)):
        rows = [row._replace(return_=value) if row[:2] == ("eval", episode) else row
                for row in whole.rows]  # fmt: skip
        found = score_of(Run(whole.header, rows))
        assert np.isnan(found.score) == np.isnan(found.normalised) == counts


def test_each_task_has_its_own_window():
    assert score_of(run(task="HallwayAdversarial", episodes=100)).score == 55.5
    assert score_of(run(task="GridWorld", episodes=400)).score == 290.5


def test_normalised_scores_run_from_random_to_best(spec):
    last = spec.score_window[1]
    for value, expected in ((spec.random_return, 0.0), (spec.best_return, 1.0)):
        found = score_of(run(task=spec.name, episodes=last, value=lambda e, v=value: v))
        assert found.normalised == pytest.approx(expected, abs=1e-12)


def test_coverage_is_read_at_the_end_of_the_window_and_time_per_100_episodes():
    found = score_of(run(episodes=200))
    assert found.coverage == pytest.approx(0.110)
    assert found.seconds == pytest.approx(100.0)  # 1 s per episode


def constant(agent, task, seed, value, episodes=110):
    return run(agent, task, seed, episodes, lambda e: value)


def test_a_matrix_has_seeds_as_rows_and_tasks_in_the_order_asked_for():
    tasks = ["ReacherExplore", TASK]
    runs = [constant("a", task, seed, 100 * seed + place)
            for place, task in enumerate(tasks) for seed in (0, 1, 2)]  # fmt: skip
    found = tables.matrix(tables.run_scores(table(*runs)), "a", tasks, "score")
    np.testing.assert_array_equal(found.values, [[0, 1], [100, 101], [200, 201]])
    assert (found.seeds, found.tasks, found.missing) == ((0, 1, 2), tuple(tasks), ())


def test_what_is_missing_is_listed_and_what_is_used_is_said():
    runs = [constant("a", TASK, seed, 5.0) for seed in range(5)]
    runs += [constant("a", "ReacherExplore", seed, 5.0) for seed in range(3)]
    runs += [constant("a", "ReacherExplore", 3, 5.0, episodes=99)]  # too short for a score
    runs += [constant("b", "ReacherExplore", 4, 5.0)]
    table_of = tables.run_scores(table(*runs))
    found = tables.matrix(table_of, "a", [TASK, "ReacherExplore"])
    assert found.seeds == (0, 1, 2)
    assert found.missing == (
        "a ReacherExplore: seeds 3, 4 missing",
        "a: over all tasks together seeds 0, 1, 2 alone, with a score on each",
    )
    nothing = tables.matrix(table_of, "b", [TASK, "ReacherExplore"])
    assert nothing.seeds == () and nothing.missing == (f"b: no run with a score on {TASK}",)
    assert estimate(nothing, "iqm").seeds == 0


def test_presets_do_not_mix():
    runs = [run(preset="cpu"), run(preset="paper", seed=1)]
    found = tables.run_scores(table(*runs))
    assert tables.matrix(found, "a", [TASK]).seeds == (0,)
    assert tables.matrix(found, "a (paper)", [TASK]).seeds == (1,)


NAMES = {  # (origin, preset, agent) of some runs -> their methods
    "alone": ([(LOCAL, "cpu", "sac")], ["sac"]),
    "own method": ([(REFERENCE, "cpu", "sac"), (LOCAL, "external", "mine")], ["sac", "mine"]),
    "own sac": ([(LOCAL, "cpu", "sac"), (REFERENCE, "cpu", "sac")], ["sac (local)", "sac"]),
    "paper": ([(REFERENCE, "cpu", "sac"), (REFERENCE, "paper", "sac")], ["sac", "sac (paper)"]),
    "own paper": (
        [(REFERENCE, "cpu", "sac"), (REFERENCE, "paper", "sac"), (LOCAL, "paper", "sac")],
        ["sac", "sac (paper)", "sac (paper, local)"],
    ),
    "three presets": (
        [(LOCAL, "cpu", "a"), (LOCAL, "external", "a"), (LOCAL, "mine", "a")],
        ["a", "a (local)", "a (mine)"],
    ),
}


@pytest.mark.parametrize(("keys", "expected"), NAMES.values(), ids=NAMES)
def test_methods_are_named_apart_and_reference_runs_keep_their_labels(keys, expected):
    headers = [(origin, run(agent, preset=preset).header) for origin, preset, agent in keys]
    names = tables.method_names(headers)
    assert [names[key] for key in keys] == expected


def test_of_one_run_in_two_stores_the_first_is_taken(tmp_path):
    for folder, value in (("a", 1.0), ("b", 2.0)):
        synthetic_claims.write(tmp_path / folder, [constant("x", TASK, 0, value)])
    found = tables.load_results(tmp_path / "a", tmp_path / "b")
    assert len(found) == 220 and set(found[found.phase == "eval"]["return"]) == {1.0}


@pytest.mark.parametrize(
    ("window", "before", "after"), [(20, 10, 10), (10, 5, 5), (5, 3, 2), (0, 0, 0)]
)
def test_each_seed_is_smoothed_over_the_published_frame(window, before, after):
    returns = np.random.default_rng(0).uniform(0, 1000, 40)
    one = run(episodes=40, value=lambda e: returns[e - 1])
    found = curve(table(one), window)
    expected = [returns[max(0, i - before) : i + after + 1].mean() for i in range(40)]
    np.testing.assert_allclose(found["mean"], expected)
    assert width(window) == before + 1 + after
    assert {spec.smoothing for spec in TASKS.values()} == {20, 10, 5}


def begun(agent, task, seed, value, reached, budget=110):
    """A run that is still under way."""
    whole = constant(agent, task, seed, value, budget)
    header = dataclasses.replace(whole.header, finished=False)
    return Run(header, whole.rows[: 2 * reached])


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([], 0),
        ([7], 7),
        ([9, 4], 4),
        ([9, 9, 4], 4),  # three are needed
        ([9, 9, 9, 2], 9),  # one short run
        ([9, 9, 9, 9, 50], 9),  # one long run
        ([4, 4, 4, 4, 9, 9, 9], 4),  # most
        ([4, 4, 4, 9, 9, 9, 9], 9),
    ],
)
def test_runs_share_the_length_that_most_of_them_have(lengths, expected):
    assert shared_length(lengths) == expected


def test_every_point_of_a_curve_is_of_the_same_finished_runs():
    """A poor run under way does not lift the mean where it ends, and a short one cuts nothing."""
    runs = [constant("a", TASK, seed, 900.0 + seed) for seed in range(3)]
    runs += [begun("a", TASK, 3, 0.0, 60), constant("a", TASK, 4, 0.0, 2)]
    found = curve(table(*runs), 20)
    assert found.episode.tolist() == list(range(1, 111))
    assert set(found["mean"]) == {901.0} and set(found.seeds) == {3}
    np.testing.assert_array_equal(found[["low", "high"]], [(900.0, 902.0)] * 110)
    assert Results(stored(runs)).missing()[-1] == (
        f"a {TASK}: not in curves: seed 3 (unfinished, 60 episodes), seed 4 (finished, 2 episodes)"
    )


def test_one_finished_run_is_drawn_to_its_end_however_many_are_under_way():
    runs = [constant("a", TASK, 0, 900.0)]
    runs += [begun("a", TASK, seed, 0.0, 60) for seed in range(1, 5)]
    found = curve(table(*runs), 20)
    assert found.episode.max() == 110
    assert set(found["mean"]) == {900.0} and set(found.seeds) == {1}


def test_unfinished_runs_are_drawn_as_far_as_smoothing_sees_all_of_the_window():
    returns = np.random.default_rng(3).uniform(0, 1000, 110)
    whole = [run("a", TASK, seed, 110, lambda e, s=seed: returns[e - 1] + s) for seed in range(3)]
    parts = [
        Run(dataclasses.replace(one.header, finished=False), one.rows[: 2 * reached])
        for one, reached in zip(whole, (60, 50, 45), strict=True)
    ]
    found, finished = (curve(table(*runs), 20) for runs in (parts, whole))
    assert found.episode.tolist() == list(range(1, 45 - 10 + 1))
    np.testing.assert_allclose(found["mean"], finished["mean"][:35])
    assert Results(stored(parts)).missing()[-1] == (
        f"a {TASK}: not in curves: seed 0 after episode 35, seed 1 after episode 35, "
        "seed 2 after episode 35"
    )


def test_a_run_shorter_than_half_a_window_is_no_curve_yet():
    assert curve(table(begun("a", TASK, 0, 1.0, 10)), 20).empty


def test_a_suite_curve_ends_where_an_unfinished_run_can_be_smoothed():
    tasks = (TASK, "ReacherHard")
    runs = [constant("a", task, seed, 10.0 * seed) for task in tasks for seed in range(2)]
    runs += [constant("a", TASK, 2, 5.0), begun("a", "ReacherHard", 2, 5.0, 115, 500)]
    found = curves.suite_curve(by_task(*runs), (0, 1, 2), 20)
    assert found.episode.max() == 115 - 10


def test_a_run_that_says_finished_and_lacks_rows_is_left_out_and_told(tmp_path):
    whole = [constant("a", TASK, seed, 10.0) for seed in range(3)]
    cut = constant("a", TASK, 3, 99.0)
    synthetic_claims.write(tmp_path, [*whole, Run(cut.header, cut.rows[:120])])
    found = Results.of(tmp_path)
    csv = tmp_path / cut.header.key.path.with_suffix(".csv")
    told = f"left out: {csv}: has 120 rows of 220, and its header says finished"
    assert found.missing()[0] == told and found.reference("paper").missing() == []
    assert found.seeds("a", TASK) == [0, 1, 2] and set(found.scores.seed) == {0, 1, 2}
    assert set(found.curve("a", TASK)["mean"]) == {10.0}


def test_two_seeds_give_a_line_without_a_band():
    runs = [constant("a", TASK, seed, 10.0 * seed, 5) for seed in range(2)]
    found = curve(table(*runs), 20)
    assert found["mean"].tolist() == [5.0] * 5
    assert found.low.isna().all() and found.high.isna().all()


def test_the_band_is_the_bootstrap_interval_of_the_mean_over_seeds():
    returns = np.random.default_rng(1).gamma(2.0, 100.0, 8)
    runs = [constant("a", TASK, seed, value, 2) for seed, value in enumerate(returns)]
    found = curve(table(*runs), 0).iloc[0]
    reference = stats.bootstrap(
        (returns,), np.mean, method="percentile", n_resamples=20_000, rng=0
    ).confidence_interval
    width = reference.high - reference.low
    np.testing.assert_allclose((found.low, found.high), reference, atol=0.06 * width)


def test_a_warm_start_is_left_out_before_smoothing_and_episodes_count_from_there():
    one = run(task="GridWorld", episodes=30, value=lambda e: 1000.0 if e <= 20 else float(e))
    found = curve(table(one), 10, skip=20)
    assert found.episode.tolist() == list(range(1, 11))
    assert found["mean"][0] == np.mean(range(21, 27))


def test_coverage_is_that_of_training():
    one = run(episodes=3)
    rows = [row._replace(coverage=9.0) if row.phase == "eval" else row for row in one.rows]
    found = curve(table(Run(one.header, rows)), 0, "coverage")
    np.testing.assert_allclose(found["mean"], [0.001, 0.002, 0.003])


def test_an_agent_without_runs_has_an_empty_curve():
    assert Results(stored([run()])).curve("nobody", TASK) is None


def test_a_suite_curve_is_the_iqm_of_normalised_returns():
    tasks, seeds, episodes = (TASK, "ReacherHard"), (0, 1, 2, 3), 6
    returns = np.random.default_rng(2).uniform(0, 1000, (4, 2, episodes + 1))
    runs = [
        run("a", task, seed, episodes + place, lambda e, s=seed, p=place: returns[s, p, min(e, 6)])
        for place, task in enumerate(tasks)
        for seed in seeds
    ]
    found = curves.suite_curve(by_task(*runs), seeds, 0)
    assert found.episode.tolist() == list(range(1, episodes + 1))  # the shortest run's
    for index, episode in enumerate(found.episode):
        normalised = [
            (returns[:, place, episode] - lookup(task).random_return)
            / (lookup(task).best_return - lookup(task).random_return)
            for place, task in enumerate(tasks)
        ]
        assert found["mean"][index] == pytest.approx(stats.trim_mean(np.ravel(normalised), 0.25))
    assert (found.seeds == 4).all() and (found.low <= found.high).all()
