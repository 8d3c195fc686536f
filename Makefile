# Each target sets up what it needs, alone, on a machine with Python 3.11, make, g++ and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# LOCK=requirements.lock installs exactly the files whose hashes it holds, as .ci/run does. Of torch
# every machine has a build of its own, so that its version is pinned but no hash.
LOCK ?=
PIP = $(BIN)/pip install --quiet --disable-pip-version-check
# torch on one thread per process: small networks gain nothing from more, and two runs fit two cores.
export OMP_NUM_THREADS ?= 1

.PHONY: demo test check lint docs fuzz bench films report results submissions setup gl

# Two agents in a corridor, with the commands that a user has. DEMO_QUICK=1 does the same in small.
ifeq ($(DEMO_QUICK),1)
DEMO ?= demo/quick
DEMO_EPISODES := 3
DEMO_LAST := 2
else
DEMO ?= demo/hallway
DEMO_EPISODES := 26
DEMO_LAST := 5
endif

demo: setup
	@echo "SAC and SAC+DEEP in a corridor. An episode at its near goal earns 100, at its far one 889."
	@echo "2 seeds each, $(DEMO_EPISODES) episodes. Interrupted, the same command resumes."
	$(BIN)/explore-suite sweep --agents sac_deep.fast sac.fast --tasks HallwayShort --seeds 0-1 \
		--episodes $(DEMO_EPISODES) --results $(DEMO)/runs
	$(BIN)/explore-suite leaderboard --results $(DEMO)/runs --out $(DEMO)/page.html \
		--last $(DEMO_LAST) --title "SAC and SAC+DEEP in a corridor"
	@echo "Open $(DEMO)/page.html in a browser: curves, visited states, scores."

test: lint
	$(BIN)/python -m pytest

# Lint, types and the quick tests, in about a minute: while you work.
check: lint
	$(BIN)/python -m pytest -m "not slow"

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The documentation site. MkDocs 2 has no plugins, so that we stay below it; Material's banner about
# that is left out.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict
	@echo "Built site/index.html. To read it: $(BIN)/python -m http.server --directory site"

# Random kills of sweeps, random damage to their files, and forged submissions, for so many minutes.
FUZZ_MINUTES ?= 10
fuzz: setup
	$(BIN)/python -m tests.end_to_end.fuzz_runs --minutes $(FUZZ_MINUTES)

# Figures, leaderboard, reproduction report, and the tables of README and docs, from results/ alone.
define REPORT
	$(BIN)/explore-suite report --results results/runs --out results
	$(BIN)/python docs/result_tables.py
endef
report: setup
	$(REPORT)

# Every run of ours: the paper's agents, one seed of each before any second one, and after seed 4 the
# ablations; then longer runs, and the methods to compare with. Resumes where it was interrupted.
SAC := sac_deep sac sac_bbe sac_2q
DDQN := ddqn_deep ddqn ddqn_bbe ddqn_deep.warm ddqn.warm ddqn_bbe.warm \
	random ddqn_bbe.pure ddqn_deep.pure ddqn_deep.pure_plain ddqn_deep.pure_slow
SCALES := sac_bbe.scale_0.01 sac_bbe.scale_0.1 sac_bbe.scale_10
COUNTS := sac_deep.kernel_third sac_deep.kernel_triple sac_deep.rows_512 sac_deep.rows_all
METHODS := sac_noise.pink sac_noise.zeta sac_oac sac_maxinfo \
	sac_bbe.rnd sac_deep.rnd sac_bbe.hash sac_deep.hash
LONG := FingerTurnHard FingerExplore WalkerExplore
SWEEP = $(BIN)/explore-suite sweep --results results/runs
define PAPER
	$(SWEEP) --agents $(SAC) --tasks explore original hallway --seeds 0-$(1)
	$(SWEEP) --agents random --tasks explore original hallway --seeds 0-$(1)
	$(SWEEP) --agents $(DDQN) --tasks GridWorld --seeds 0-$(1)
endef
results: setup
	$(call PAPER,0)
	$(call PAPER,2)
	$(call PAPER,4)
	$(SWEEP) --agents $(SCALES) --tasks explore original --seeds 0-2
	$(SWEEP) --agents $(COUNTS) --tasks explore --seeds 0-2
	$(call PAPER,7)
	$(SWEEP) --agents sac.long sac_deep.long --tasks $(LONG) --seeds 0-2
	$(SWEEP) --agents $(METHODS) --tasks explore hallway original --seeds 0-4
	$(SWEEP) --agents random $(SAC) $(METHODS) --tasks classic --seeds 0-4
	$(REPORT)

# The runs of our two submissions, which are other libraries' learners; two at a time, each on one core.
# Finished runs are kept, an interrupted one starts again. results/README.md says how they are handed in.
SEEDS5 := 0 1 2 3 4
HALLWAYS := HallwayLocalOptimum HallwayAdversarial
CONTROL := BallInCupExplore ReacherExplore FingerExplore WalkerExplore \
	BallInCupCatch ReacherHard FingerTurnHard WalkerWalk
submissions: $(VENV)/installed-bench
	run() { grep -qs '"finished": true' peers/external/$$2/$$3-v0/seed-00$$4.json || \
		echo examples/$$1.py --task $$3 --seed $$4 --results peers; }; \
	for seed in $(SEEDS5); do \
		for task in $(HALLWAYS); do run sb3_sac sb3-sac $$task $$seed; done; \
		for task in $(HALLWAYS) $(CONTROL); do run sbx_learners sbx-crossq $$task $$seed; done; \
	done | XLA_FLAGS=--xla_cpu_multi_thread_eigen=false xargs -L 1 -P 2 $(BIN)/python

# Films of trained policies for the docs, from the weights that `make results` leaves.
FILMED := sac sac_bbe sac_deep
films: setup
	for agent in $(FILMED); do for task in BallInCupExplore WalkerExplore; do \
		$(BIN)/explore-suite watch $$task --run results/runs/cpu/$$agent/$$task-v0/seed-000.csv \
			--out docs/films/$${agent}_$$task.gif --steps 320 --every 4 --size 120 || exit; \
	done; done

bench: $(VENV)/installed-bench
	$(BIN)/python -m baselines.bench

setup: $(VENV)/installed

$(VENV)/installed: pyproject.toml constraints.txt $(LOCK)
	@echo "Setting up $(VENV) (about two minutes the first time) ..."
	$(PYTHON) -c "import sys; sys.exit(sys.version_info < (3, 11) and 'Python 3.11 or later is needed: make PYTHON=...')"
	$(PYTHON) -m venv $(VENV)
ifeq ($(LOCK),)
	$(PIP) --constraint constraints.txt hatchling editables setuptools wheel
	$(PIP) --constraint constraints.txt --no-build-isolation --editable ".[dev]"
else
	$(PIP) --no-deps --require-hashes --requirement requirements-build.lock
	$(PIP) --no-deps $$(grep '^torch==' constraints.txt)
	$(PIP) --no-deps --require-hashes --no-build-isolation --requirement $(LOCK)
	$(PIP) --no-deps --no-build-isolation --editable .
endif
	@$(BIN)/python -m explore_suite.envs.rendering || $(MAKE) --no-print-directory gl
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed
	$(PIP) --constraint constraints.txt --no-build-isolation --editable ".[dev,bench]"
	@touch $@

# Pictures need a GL library; a root user of a Debian machine gets it, everyone else is told.
gl:
	@if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "Installing libegl1 for pictures and videos ..."; \
		apt-get update -qq && apt-get install -y -qq libegl1 >/dev/null; \
	fi; \
	$(BIN)/python -m explore_suite.envs.rendering || echo "Everything but pictures and videos works."
