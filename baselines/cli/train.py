"""`explore-suite train`: train one agent on one task, with progress and optional TensorBoard."""

import argparse
import logging
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tqdm import tqdm

from baselines.runner import EpisodeResult, Trainer
from baselines.settings import PRESETS, resolve
from baselines.training.flags import label, parse_config, settings, split_config
from baselines.training.run import RunOptions, RunSpec, require_device, train
from explore_suite.cli.console import say
from explore_suite.errors import UserError
from explore_suite.installation import install_command
from explore_suite.runs.protocol import RunLog
from explore_suite.runs.provenance import checkout, warn_of_changes
from explore_suite.runs.store import DEFAULT_STORE, ResultStore
from explore_suite.tasks import lookup

_EPILOG = """\
examples:
  explore-suite train --agent sac_deep --task WalkerExplore --seed 1
  explore-suite train --agent sac_deep --task WalkerExplore --variant wide \\
    --config.explorer.hidden 512            # your own settings, filed under sac_deep.wide
  explore-suite train --agent sac_deep --task WalkerExplore --help    # lists every setting

An interrupted run resumes when the same command is run again, and its rows are those of an
undisturbed run. A finished run is lengthened by a larger --episodes if it was made with
--keep-checkpoint.
"""


def main(arguments: list[str]) -> int:
    """Runs or resumes one run; 0 when it is finished, 130 when it was interrupted."""
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    logging.getLogger("absl").setLevel(logging.WARNING)  # hides dm_control's rendering messages
    options = parse(arguments)
    if options.help:
        _print_help(options)
        return 0
    spec = spec_of(options)
    run_options = replace(
        run_options_of(options), overwrite=options.overwrite, restart=options.restart,
        capture_video=options.capture_video,
    )  # fmt: skip
    require_device(options.device, f"--device {options.device}")
    store = ResultStore(options.results)
    warn_of_changes(checkout(), "the checkout of explore-suite")
    with Progress(spec, options.tensorboard) as progress:
        finished = train(spec, store, run_options, progress)
    path = store.path(spec.key, ".csv")
    if finished:
        say(f"Finished: {path}")
        return 0
    again = "again without --overwrite" if options.overwrite else "again"
    say(f"Interrupted. Run the same command {again} to resume ({path}).")
    return 130


def parse(arguments: list[str]) -> argparse.Namespace:
    """The options of the command; `config` has the --config.* flags as name -> text."""
    config, others = split_config(arguments)
    return _parser().parse_args(others, argparse.Namespace(config=config))


def spec_of(options: argparse.Namespace) -> RunSpec:
    """The run that the options ask for."""
    if not options.agent or not options.task:
        raise UserError("--agent and --task are needed, e.g. --agent sac_deep --task WalkerExplore")
    what = options.preset, options.agent, options.task
    config = parse_config(*what, options.config)
    name = label(*what, config, options.variant)
    return RunSpec.of(name, options.task, options.seed, options.preset, options.episodes, config)


def add_run_flags(parser: argparse.ArgumentParser) -> None:
    """Adds the flags that `train` and `sweep` share; `split_config` reads --config.*."""
    add = parser.add_argument
    add(
        "--preset", choices=PRESETS, default="cpu", help="cpu for a laptop, or paper (default: cpu)"
    )
    add("--episodes", type=int, help="training episodes (default: the preset's)")
    add("--config.NAME", metavar="VALUE", help="change a setting of the agent; needs --variant")
    add("--variant", metavar="NAME", help="file runs with your own settings under AGENT.NAME")
    add(
        "--results", type=Path, default=DEFAULT_STORE, help=f"run folder (default: {DEFAULT_STORE})"
    )
    add("--device", default="cpu", help="cpu or cuda (default: cpu)")
    add("--threads", type=int, default=1, help="torch threads of each run (default: 1)")
    add(
        "--checkpoint-minutes",
        type=float,
        default=3.0,
        help="time between checkpoints (default: 3)",
    )
    add(
        "--keep-checkpoint",
        action="store_true",
        help="keep the last checkpoint, to lengthen the run later",
    )


def run_options_of(options: argparse.Namespace) -> RunOptions:
    """How to run, by the flags that `train` and `sweep` share."""
    if options.threads < 1 or not options.checkpoint_minutes >= 0:
        raise UserError("--threads must be at least 1, and --checkpoint-minutes 0 or more")
    return RunOptions(
        options.device, options.threads, 60 * options.checkpoint_minutes, options.keep_checkpoint
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="explore-suite train",
        usage="explore-suite train --agent AGENT --task TASK [options]",
        description="Train one agent on one task. Resumes an interrupted run.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        add_help=False,  # with an agent and a task, the help also lists the settings
    )
    add = parser.add_argument
    add("-h", "--help", action="store_true", help="show help; with agent and task, every setting")
    add("--agent", help="one of `explore-suite agents`")
    add("--task", help="one of `explore-suite list`")
    add("--seed", type=int, default=0, help="seed of everything random (default: 0)")
    add_run_flags(parser)
    add("--overwrite", action="store_true", help="run a finished run again, from scratch")
    add("--restart", action="store_true", help="start from scratch if checkpoints are damaged")
    add("--tensorboard", type=Path, metavar="FOLDER", help="also write TensorBoard events there")
    add("--capture-video", action="store_true", help="film some evaluations into RESULTS/.videos")
    return parser


def _print_help(options: argparse.Namespace) -> None:
    """The help of the command, with every setting of the agent on the task if both are given."""
    parser = _parser()
    if options.agent and options.task:
        group = parser.add_argument_group(
            f"settings of {options.agent} on {options.task}, preset {options.preset}"
        )
        for setting in settings(resolve(options.preset, options.agent, options.task)).values():
            about = f"{setting.about} (default: {setting.text})".replace("%", "%%")
            group.add_argument(setting.flag, metavar=setting.kind, help=about)
    parser.print_help()


class Progress:
    """A bar on a terminal, a line per episode elsewhere; and TensorBoard if asked for."""

    def __init__(self, spec: RunSpec, tensorboard: Path | None) -> None:
        """Nothing is shown before the first episode."""
        self.spec = spec
        self._bar: tqdm | None = None
        self._tensorboard = _tensorboard(tensorboard / spec.key.path) if tensorboard else None

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
        if self._tensorboard is not None:
            self._tensorboard.close()

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
        if self._tensorboard is not None:
            _write_scalars(self._tensorboard, result)

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


def _tensorboard(folder: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise UserError(f"needs tensorboard: {install_command('tensorboard')}") from error
    try:
        return SummaryWriter(str(folder))
    except OSError as error:
        raise UserError(f"cannot write to {folder}: {error.strerror}") from error


def _write_scalars(writer: Any, result: EpisodeResult) -> None:
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
        writer.add_scalar(tag, value, train_row.env_steps)
