# make lab    starts JupyterLab on the tour         make test   runs every check
# make proof  explores with new random cases        make bench  measures speed
# make lint   style, types, layers                  make help   lists these
# make mutants  tries faults in the engine       make clean  removes what these made
# make extension  builds the JupyterLab extension anew (needs node and a network)
#
# Nothing but Python 3.11-3.13 is needed; .ci/environment makes .venv, once.

SHELL := bash
COMMANDS := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help lab test proof mutants bench lint clean extension environment test-environment

help:
	@echo 'make lab    make the environment (once) and start JupyterLab on notebooks/00_tour.ipynb'
	@echo 'make test   make the test environment (once) and run every check and test'
	@echo 'make proof  try many new random cases, and print the seed that repeats them'
	@echo 'make lint   style, types and layers only'
	@echo 'make mutants  try random faults of one token in the engine, and list those that no test notices'
	@echo 'make bench  measure speed'
	@echo 'make clean  remove the environment, caches and built files'
	@echo 'make extension  build the JupyterLab extension anew: needs node and a network; its result is committed'
	@echo
	@echo 'make lab PYTHON=python3.12   with this Python; makes .venv anew if it has another'
	@echo 'make proof SEED=42 TIMES=3   with this seed, and three times the cases that tests name (usual: 10)'
	@echo 'make mutants SITES=50 SEED=2  so many faults, drawn by this seed'
	@echo 'make lab CONSTRAINTS=        with the newest versions the ranges allow, each time'

environment:
	@bash .ci/environment

test-environment:
	@bash .ci/environment test

lab: environment
	@$(COMMANDS)/mlnlab lab

lint: test-environment
	@$(COMMANDS)/ruff check
	@$(COMMANDS)/ruff format --check
	@$(COMMANDS)/mypy
	@$(COMMANDS)/lint-imports --no-logo

# pytest speaks last, so that its closing line is the last line.
# Kernels are compiled once, while the linters work, and not in each worker and notebook at a time: by two
# processes, of which one begins at the end, until they meet.
BACKWARDS := from mlnlab.kernels import warm_up_all; list(warm_up_all(backwards=True))
# Strings are hashed alike in each run, so that no test depends on the order of a set; `make proof` tries others.
test: export PYTHONHASHSEED = 0
# Hundreds of processes import the same files, so what they compile is kept, also where a shell says otherwise.
test proof: export PYTHONDONTWRITEBYTECODE =
test: test-environment
	@$(COMMANDS)/mlnlab warmup > /dev/null & first=$$!; $(COMMANDS)/python -c '$(BACKWARDS)' & second=$$!; \
	$(MAKE) --no-print-directory lint && wait $$first && wait $$second
	@bash .ci/chromium
	@$(COMMANDS)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder -m 'not benchmark and not proof'

# Random exploration: the tests that draw examples, with TIMES as many (`make test`: half), and those marked `proof`.
TIMES ?= 10
proof: SEED ?= $(shell od -An -N4 -tu4 /dev/urandom | tr -d ' ')
proof: test-environment
	@seed=$(SEED); echo "mlnlab: make proof SEED=$$seed TIMES=$(TIMES) repeats this run"; \
	PYTHONHASHSEED=$$seed MLNLAB_PROOF_TIMES=$(TIMES) $(COMMANDS)/python -m pytest -n 2 --dist loadgroup \
		--no-loadscope-reorder -m 'hypothesis or random or proof' --hypothesis-seed=$$seed; status=$$?; \
	echo "mlnlab: make proof SEED=$$seed TIMES=$(TIMES) repeats this run"; exit $$status

# Faults of one token, each in a copy of the tree. A trial that was stopped goes on: build/mutants.jsonl keeps it.
SITES ?= 200
mutants: SEED ?= 1
mutants: test-environment
	@$(COMMANDS)/python -m tests.mutants --sites $(SITES) --seed $(SEED)

bench: test-environment
	@$(COMMANDS)/python -m pytest -m benchmark -s

# Both programs come with jupyterlab; the build calls them by their names.
extension: environment
	@cd extension && export PATH="$(CURDIR)/$(COMMANDS):$$PATH" && jlpm install --immutable && jlpm build:prod

clean:
	@if [ -x $(COMMANDS)/mlnlab ]; then $(COMMANDS)/mlnlab warmup --remove || true; fi
	rm -rf .venv build dist extension/node_modules extension/lib extension/.yarn .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find mlnlab sample_data tests -name __pycache__ -type d -prune -exec rm -rf {} +
