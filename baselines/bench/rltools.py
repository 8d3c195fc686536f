"""The SAC of RLtools, a C++ library, as a contender of `make bench`, in a process of its own.

Started by path, not as a module: with torch in the process RLtools does not find its own MKL. It
reads a number of steps from each line of its input, makes them (environment step, action, one
update) and answers with the processor seconds that they took.
"""

import os
import sys
import time

import gymnasium

import explore_suite  # noqa: F401  (registers the tasks)


def main(task: str, hidden: int, batch: int) -> None:
    """Makes the steps that are asked for, until the input ends."""
    import rltools

    def make() -> gymnasium.Env:
        return gymnasium.make(task)

    sac = rltools.SAC(
        make, enable_evaluation=False, interface_name="explore_suite_bench",
        ACTOR_BATCH_SIZE=batch, CRITIC_BATCH_SIZE=batch, N_WARMUP_STEPS=batch, STEP_LIMIT=1_000_000,
        REPLAY_BUFFER_CAP=100_000, ACTOR_HIDDEN_DIM=hidden, CRITIC_HIDDEN_DIM=hidden,
        ACTOR_NUM_LAYERS=3, CRITIC_NUM_LAYERS=3,  # it counts the output layer
        OPTIMIZER_ALPHA=3e-4,
    )  # fmt: skip
    state = sac.State(0)
    answers = os.fdopen(os.dup(1), "w")
    print("ready", file=answers, flush=True)  # noqa: T201
    for line in sys.stdin:
        start = time.process_time()
        for _ in range(int(line)):
            state.step()
        print(time.process_time() - start, file=answers, flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
