"""A setting added with a default changes nothing for the runs that exist."""

from dataclasses import asdict, dataclass, field, fields, is_dataclass, make_dataclass

import pytest

from baselines import AGENTS
from baselines.cli.verify import main as verify
from baselines.settings import build, config_of, settings_of
from baselines.training.artefacts import load_policy
from baselines.training.run import RunOptions, RunSpec, train
from explore_suite.__main__ import main
from explore_suite.errors import UserError
from explore_suite.runs.store import ResultStore
from tests.helpers import small_agents
from tests.helpers.runs import quiet
from tests.helpers.small_agents import task_of

EPISODES = 2


def config_classes(config: type) -> list[type]:
    """A config class and those of its parts."""
    parts = [type(value) for value in vars(config()).values() if is_dataclass(value)]
    return [config, *(c for part in parts for c in config_classes(part))]


CASES = [(name, part) for name in AGENTS for part in config_classes(AGENTS[name].Config)]


def grown(config: type, part: type) -> type:
    """The config class as a later version would have it: with one more setting in one part."""
    if config is part:
        return make_dataclass(
            config.__name__, [("added_later", int, 7)], bases=(config,), frozen=True
        )
    new = {
        item.name: grown(type(value), part)
        for item, value in ((f, getattr(config(), f.name)) for f in fields(config))
        if is_dataclass(value) and part in config_classes(type(value))
    }
    parts = [(name, kind, _factory(config, name, kind)) for name, kind in new.items()]
    return make_dataclass(config.__name__, parts, bases=(config,), frozen=True)


def _factory(config: type, name: str, kind: type):
    held = asdict(getattr(config(), name))
    return field(default_factory=lambda: _filled(kind, held))


def _filled(kind: type, values: dict):
    """An object of a grown class with the old class's values."""
    parts = {
        name: _filled(type(getattr(kind(), name)), value) if isinstance(value, dict) else value
        for name, value in values.items()
    }
    return kind(**parts)


def spec(name: str, seed: int = 0, episodes: int = EPISODES) -> RunSpec:
    config = small_agents.config(name, task_of(name))
    return RunSpec.of(name, task_of(name), seed, "cpu", episodes, config)


@pytest.fixture
def old_store(tmp_path):
    """A finished run of the agent as it is today."""

    def make(name: str) -> ResultStore:
        store = ResultStore(tmp_path)
        assert train(spec(name), store, RunOptions(), quiet)
        return store

    return make


@pytest.mark.parametrize(("name", "part"), CASES, ids=lambda x: getattr(x, "__name__", x))
def test_a_new_setting_is_read_as_its_default(name, part, monkeypatch):
    header = spec(name).header(threads=1)
    monkeypatch.setattr(AGENTS[name], "Config", grown(AGENTS[name].Config, part))
    config = config_of(header)
    flat = str(settings_of(header))
    assert flat.count("'added_later': 7") >= 1
    assert build(name, task_of(name), config, seed=0).config == config


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sac", "ddqn_deep"])
def test_runs_made_before_a_setting_was_added_go_on_as_if_nothing_had_happened(
    name, old_store, monkeypatch, capsys
):
    store = old_store(name)
    path = store.path(spec(name).key, ".csv")
    monkeypatch.setattr(
        AGENTS[name], "Config", grown(AGENTS[name].Config, config_classes(AGENTS[name].Config)[-1])
    )
    assert verify([str(path)]) == 0
    assert load_policy(path)[0] == spec(name).task
    assert train(spec(name, seed=1), store, RunOptions(), quiet)  # a sibling
    headers = [run.header for run in store.runs()]
    assert settings_of(headers[0]) == settings_of(headers[1])
    assert "added_later" not in str(headers[0].config) and "added_later" in str(headers[1].config)


@pytest.mark.slow
def test_an_interrupted_run_resumes_after_a_setting_was_added(tmp_path, monkeypatch):
    store, name = ResultStore(tmp_path), "ddqn_deep"

    def stop(trainer, rows):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(spec(name), store, RunOptions(checkpoint_seconds=0), stop)
    part = config_classes(AGENTS[name].Config)[1]
    monkeypatch.setattr(AGENTS[name], "Config", grown(AGENTS[name].Config, part))
    assert train(spec(name), store, RunOptions(), quiet)


@pytest.mark.slow
def test_a_sweep_takes_a_run_from_before_for_done(tmp_path, monkeypatch, capsys):
    command = ["sweep", "--agents", "random", "--tasks", "HallwayLocalOptimum", "--episodes", "2",
               "--results", str(tmp_path), "--workers", "1"]  # fmt: skip
    assert main(command) == 0
    config = AGENTS["random"].Config
    monkeypatch.setattr(AGENTS["random"], "Config", grown(config, config))
    assert main([*command, "--dry-run"]) == 0
    assert "1 runs, 1 finished, 0 to do" in capsys.readouterr().out


def test_an_unknown_setting_is_refused_by_name():
    header = spec("sac_deep").header(threads=1)
    header.config["explorer"]["from_the_future"] = 1
    with pytest.raises(UserError, match="ExplorerConfig has no setting from_the_future"):
        config_of(header)


@pytest.mark.parametrize(
    ("where", "value", "message"),
    [
        (("hidden",), 10**6, "config.hidden must be at most 8192, got 1000000"),
        (("hidden",), "256", "config.hidden must be int, got '256'"),
        (("hidden",), True, "config.hidden must be int, got True"),
        (("learning_rate",), 10**400, "config.learning_rate must be at most 1000000000"),
        (("learning_rate",), float("nan"), "config.learning_rate must be at most"),
        (("updates_per_step",), 1e9, "config.updates_per_step must be at most 1000"),
        (("explorer", "hidden"), 10**9, "config.explorer.hidden must be at most 8192"),
        (("explorer",), 3, "config.explorer must hold settings, got 3"),
        (("bonus", "kernel", "max_rows"), 10**9, "config.bonus.kernel.max_rows must be at most"),
        (("bonus", "kind"), "magic", "config.bonus: unknown bonus 'magic'"),
        (("hidden",), -1, "config: hidden must be positive, got -1"),
        (("explorer", "update_temperature"), "x", "update_temperature must be float or null"),
    ],
)
def test_a_header_that_asks_for_too_much_is_refused(where, value, message):
    header = spec("sac_deep").header(threads=1)
    *parents, last = where
    inside = header.config
    for parent in parents:
        inside = inside[parent]
    inside[last] = value
    with pytest.raises(UserError, match=message):
        config_of(header)


def test_growing_really_adds_a_setting():
    @dataclass(frozen=True)
    class Part:
        size: int = 3

    @dataclass(frozen=True)
    class Whole:
        part: Part = Part(5)

    later = grown(Whole, Part)()
    assert asdict(later) == {"part": {"size": 5, "added_later": 7}}
