# make lab    starts JupyterLab on the tour         make test   runs every check
# make bench  measures speed                        make lint   style, types, layers
# make clean  removes what these made               make help   lists these
# make extension  builds the JupyterLab extension anew (needs node and a network)
#
# Nothing but Python 3.11-3.13 is needed; .ci/environment makes .venv, once.

SHELL := bash
COMMANDS := .venv/bin
.DEFAULT_GOAL := help
.PHONY: help lab test bench lint clean extension environment test-environment

help:
	@echo 'make lab    make the environment (once) and start JupyterLab on notebooks/00_tour.ipynb'
	@echo 'make test   make the test environment (once) and run every check and test'
	@echo 'make lint   style, types and layers only'
	@echo 'make bench  measure speed'
	@echo 'make clean  remove the environment, caches and built files'
	@echo 'make extension  build the JupyterLab extension anew: needs node and a network; its result is committed'
	@echo
	@echo 'make lab PYTHON=python3.12   with this Python; makes .venv anew if it has another'
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
test: test-environment
	@$(COMMANDS)/mlnlab warmup > /dev/null & first=$$!; $(COMMANDS)/python -c '$(BACKWARDS)' & second=$$!; \
	$(MAKE) --no-print-directory lint && wait $$first && wait $$second
	@bash .ci/chromium
	@$(COMMANDS)/python -m pytest -n 2 --dist loadgroup --no-loadscope-reorder -m 'not benchmark'

bench: test-environment
	@$(COMMANDS)/python -m pytest -m benchmark -s

# Both programs come with jupyterlab; the build calls them by their names.
extension: environment
	@cd extension && export PATH="$(CURDIR)/$(COMMANDS):$$PATH" && jlpm install --immutable && jlpm build:prod

clean:
	rm -rf .venv build dist extension/node_modules extension/lib extension/.yarn .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find mlnlab tests -name __pycache__ -type d -prune -exec rm -rf {} +
