"""How REPRODUCTION.md explains itself: how claims are judged, and what the numbers cannot say."""

from analysis.bootstrap import MIN_SEEDS
from analysis.evidence import FINAL_EPISODES

NOTES = f"""\
A claim is judged by tests. Each is of a mean over seeds: the number is made once per run, agents
are compared by the differences between their runs of the same seed (which meet the same start
states), and the 95 % interval is a percentile bootstrap over seeds. A test **holds** if the
interval lies wholly where the claim says, **fails** if it lies wholly elsewhere, and is **not
decided** if it contains a limit. For "as well" and "equal" the limit is 0.1 of the scale from
random actions (0) to the best return known or its bound (1), for "better" it is 0.

A claim holds if all of its tests do, unless its criterion says otherwise. It fails if a test does
so even as one of several: if also the Student interval over seeds of level 1 − 0.05 / (number of
its tests) lies wholly elsewhere. Without that, one of the many tests of a claim would often fail by
chance; a test that fails only by itself leaves the claim not decided. A claim is judged only when
every run it needs is there and finished, with {MIN_SEEDS} common seeds or more; until then it has
**not enough runs**, whatever single tests say.

Scores, final returns and mean returns of the control suite are normalised to that scale. The score
of a run is its mean evaluation return over the whole of the task's score window, its final return
that over the last {FINAL_EPISODES} evaluations of the budget, its mean return that over all. The
budget of a comparison is the longest that most of the common seeds have finished with, and no less
than the end of the score window; shorter runs are left out, and named. Coverage is the share of a
task's bins that training visited.

Preset `cpu` is smaller than the published setting (`explore-suite agents`), and differs in what
goes with its few updates: targets move four times as far in each of the SAC agents' updates, and
the exploration Q of DEEP starts with spread biases and, in SAC+DEEP, fits its output bias to every
batch. These three were chosen by looking at runs on HallwayLocalOptimum.

With preset `cpu` control tasks have 110 episodes, so that "final" is episodes 91-110, the score
window itself: C7, the comparisons with SAC of C11 and those of final returns of C12 are then the
same tests, on the tasks that they share. Hallways are judged by episodes 91-100
(HallwayLocalOptimum) and within 60 episodes (HallwayAdversarial), where the paper plots 300 and
100.

Criteria are in the code (`analysis/claims*.py`); they were written with the published numbers and a
prototype in sight. Intervals over few seeds are too narrow: of normally distributed numbers they
contain the mean 74, 84 and 89 times in 100 with 3, 5 and 8 seeds, not 95 times. Of agents that are
alike, a claim of 16 tests such as C12 fails in about 1 of 100 simulated stores if returns are
normally distributed; if each run earns all or nothing, half of them each, in about 24, 2 and 1 with
3, 5 and 8 seeds: that three runs of one agent succeed where three of another fail is chance too
often to be excluded by three seeds."""
