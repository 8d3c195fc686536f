"""How REPRODUCTION.md explains itself: how claims are judged, and what the numbers cannot say."""

from analysis.claims.samples import FINAL_EPISODES
from analysis.stats.intervals import MIN_SEEDS

NOTES = f"""\
A claim is judged by tests. Each is of a mean over seeds: the number is made once per run, agents
are compared by the differences between their runs of the same seed (which meet the same start
states), and the 95 % interval is over seeds, on each side the wider of a percentile bootstrap and
of Student's; it may reach beyond what is possible. A test **holds** if the interval lies wholly
where the claim says, **fails** if it lies wholly elsewhere, and is **not decided** if it contains a
limit. For "as well" and "equal" the limit is 0.1 of the scale from random actions (0) to the best
return known or its bound (1), for "better" it is 0.

A claim holds if all of its tests do, unless its criterion says otherwise. It fails if one of them
fails by the wider interval that several tests need: Student's of level 1 − 0.05 / (number of the
claim's tests). Otherwise one of many tests would often fail by chance; a test that fails by its own
interval alone leaves the claim not decided. A claim is judged only when every run it needs is there
and finished, with {MIN_SEEDS} common seeds or more; until then it has **not enough runs**, whatever
single tests say.

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
prototype in sight. That of C5 was changed when its first runs had been seen, to one that is harder
to meet; so were the intervals, which had been bootstrapped alone. What was looked into where our
own runs do not say what the paper does is in `results/README.md`.

Of normally distributed numbers the intervals contain the mean 95 times in 100 or a little more
often, with any number of seeds. They are too narrow where each run earns all or
nothing: three runs that all earn it show no spread, and if half of all runs would, the interval
contains that half only 75, 94 and 94 times in 100 with 3, 5 and 8 seeds. Of agents that are
alike, a claim of 16 tests such as C12 fails in about 1 of 100 simulated stores if returns are
normally distributed; with all or nothing in about 24, 2 and 1 with 3, 5 and 8 seeds: that three
runs of one agent succeed where three of another fail is chance too often to be excluded by three
seeds. The bands and bars of figures and leaderboard are bootstrap intervals alone, as is usual:
of normally distributed numbers they contain the mean 75, 84 and 89 times in 100 with 3, 5 and 8
seeds; with 3 seeds of one task they are the range of the runs."""
