"""`explore-suite train`: the flags, the progress and the optional TensorBoard of one run."""

import argparse
import logging
import sys
from dataclasses import dataclass, field, make_dataclass
from pathlib import Path
from typing import Any

import tyro
from tqdm import tqdm

from baselines.runner import EpisodeResult, Trainer
from baselines.settings import VARIANTS, algorithm, resolve
from baselines.training.run import RunOptions, RunSpec, require_device, train
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.runs.protocol import RunLog
from explore_suite.runs.store import ResultStore
from explore_suite.tasks import lookup

RESULTS = Path("results/runs")


@dataclass(frozen=True)
class Options:
    """Train an agent on a task. Started again, an interrupted run goes on where it was.

    With --agent and --task, --help also lists every setting of the agent as a flag --config.NAME.
    """

    agent: str
    """One of `explore-suite agents`."""
    task: str
    """One of `explore-suite list`."""
    seed: int = 0
    """Fixes everything random."""
    preset: str = "cpu"
    """`cpu` for one core of a laptop, `paper` for the published setting."""
    variant: str | None = None
    """Name for settings of your own: the run is filed under AGENT.VARIANT."""
    episodes: int | None = None
    """Training episodes; None means the preset's."""
    results: Path = RESULTS
    """Folder of the run's files."""
    tensorboard: Path | None = None
    """Also write TensorBoard events into this folder."""
    capture_video: bool = False
    """Film evaluations 1, 2, 9, 28, 65 ... into RESULTS/.videos."""
    device: str = "cpu"
    """`cpu` or `cuda`."""
    threads: int = 1
    """Torch threads; more rarely help."""
    checkpoint_minutes: float = 3.0
    """Time between checkpoints, which are made at ends of episodes."""
    overwrite: bool = False
    """Run a finished run again, from the start."""
    restart: bool = False
    """Begin an unfinished run anew where its checkpoints are damaged."""


def main(arguments: list[str]) -> int:
    """Runs or continues one run; 0 when it is finished, 130 when it was interrupted."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("absl").setLevel(logging.WARNING)  # dm_control talks of rendering otherwise
    options = parse(arguments)
    _check(options)
    spec = RunSpec.of(
        label(options), options.task, options.seed, options.preset, options.episodes, options.config
    )
    run_options = RunOptions(
        options.device, options.threads, 60 * options.checkpoint_minutes,
        options.overwrite, options.restart, options.capture_video,
    )  # fmt: skip
    store = ResultStore(options.results)
    with Progress(spec, options.tensorboard) as progress:
        finished = train(spec, store, run_options, progress)
    path = store.path(spec.key, ".csv")
    again = "the same command" + (" without --overwrite" if options.overwrite else "")
    say(f"Finished: {path}" if finished else f"Interrupted. Run {again} again to resume ({path}).")
    return 0 if finished else 130


def _check(options: Any) -> None:
    if options.threads < 1 or not options.checkpoint_minutes >= 0:
        raise UserError("--threads must be at least 1, and --checkpoint-minutes 0 or more")
    require_device(options.device, f"--device {options.device}")


def label(options: Any) -> str:
    """What the run is filed under: settings of one's own never mix with the preset's results."""
    if options.config == resolve(options.preset, options.agent, options.task):
        if options.variant:
            raise UserError("--variant names settings that differ from the preset's; none do")
        return options.agent
    if not options.variant:
        raise UserError("settings differ from the preset's; --variant NAME keeps the run apart")
    name = f"{algorithm(options.agent)}.{options.variant}"
    if name in VARIANTS:
        raise UserError(f"{name} is a variant of ours with other settings; choose another name")
    return name


def parse(arguments: list[str]) -> Any:
    """Options with the agent's whole config as typed flags, `--config.tau 0.01` and so on."""
    first = argparse.ArgumentParser(add_help=False)
    first.add_argument("--agent", default="")
    first.add_argument("--task", default="")
    first.add_argument("--preset", default="cpu")
    known, _ = first.parse_known_args(arguments)
    if not known.agent or not known.task:
        if not {"-h", "--help"} & set(arguments):
            raise UserError(
                "--agent and --task are needed, e.g. --agent sac_deep --task WalkerExplore"
            )
        return tyro.cli(Options, prog="explore-suite train", args=arguments)
    config = resolve(known.preset, known.agent, lookup(known.task).id)
    flags = make_dataclass(
        "Flags", [("config", type(config), field(default=config))], bases=(Options,), frozen=True
    )
    purpose = (Options.__doc__ or "").splitlines()[0]
    return tyro.cli(flags, prog="explore-suite train", args=arguments, description=purpose)


class Progress:
    """A bar on a terminal, a line per episode elsewhere; and TensorBoard if asked for."""

    def __init__(self, spec: RunSpec, tensorboard: Path | None) -> None:
        """Nothing is shown before the first episode."""
        self.spec = spec
        self._bar: tqdm | None = None
        self._board = _board(tensorboard / spec.key.path) if tensorboard else None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        if self._board is not None:
            self._board.close()

    def __call__(self, trainer: Trainer, result: EpisodeResult) -> None:
        """Shows one episode."""
        train_row, eval_row, info = result
        shown = {
            "train": f"{train_row.return_:.1f}",
            "eval": f"{eval_row.return_:.1f}",
            "coverage": f"{train_row.coverage:.1%}",
        }
        if "explore_bonus" in info:
            shown["bonus"] = f"{info['explore_bonus']:.2f}"
        self._show(trainer.log, shown)
        if self._board is not None:
            _write_board(self._board, result)

    def _show(self, log: RunLog, shown: dict[str, str]) -> None:
        speed = log.env_steps / max(log.seconds, 1e-9)
        left = (self.spec.episodes - log.episode) * log.seconds / log.episode
        if sys.stderr.isatty():
            if self._bar is None:
                name = f"{self.spec.agent} {lookup(self.spec.task).name} {self.spec.seed}"
                self._bar = tqdm(
                    total=self.spec.episodes, initial=log.episode - 1, desc=name, unit="episode"
                )
            self._bar.update(log.episode - self._bar.n)
            self._bar.set_postfix(shown | {"steps/s": f"{speed:.0f}"})
            return
        facts = " ".join(f"{name} {value}" for name, value in shown.items())
        logging.info(
            "episode %d/%d %s, %.0f steps/s, %.1f min left",
            log.episode, self.spec.episodes, facts, speed, left / 60,
        )  # fmt: skip


def _board(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise UserError("needs tensorboard: pip install 'explore-suite[tensorboard]'") from error
    return SummaryWriter(str(folder))


def _write_board(board: Any, result: EpisodeResult) -> None:
    """The tags of Stable-Baselines3, one alias of CleanRL's, and `explore/` for our own."""
    train_row, eval_row, info = result
    scalars = {
        "rollout/ep_rew_mean": train_row.return_,
        "rollout/ep_len_mean": train_row.length,
        "rollout/success_rate": float(train_row.success_steps > 0),
        "charts/episodic_return": train_row.return_,
        "eval/mean_reward": eval_row.return_,
        "eval/mean_ep_length": eval_row.length,
        "eval/success_rate": float(eval_row.success_steps > 0),
        "time/fps": train_row.env_steps / max(train_row.seconds, 1e-9),
        "time/total_timesteps": train_row.env_steps,
        "explore/coverage": train_row.coverage,
    }
    names = {"alpha": "train/ent_coef", "explore_bonus": "explore/bonus_mean"}
    scalars |= {names.get(name, f"train/{name}"): value for name, value in info.items()}
    for tag, value in scalars.items():
        board.add_scalar(tag, value, train_row.env_steps)
