# `make` lists what there is. Everything runs in .venv, which is made when it is needed.
.DEFAULT_GOAL := help
BIN := .venv/bin
INSTALLED := .venv/.installed
INSTALLED_DEV := .venv/.installed-dev
WARM := .venv/.warm
# The public rule files and traces, where they are at hand; tests that need them say so when they are not.
export GGP_SHARED ?= $(abspath ../shared)

help: ## list the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

warm-up: $(WARM) ## compile the kernels of engine and players, once, in one to four minutes

demo: $(WARM) ## play Amazons over HTTP, game manager and two players on this machine
	@$(BIN)/ggp demo

test: $(INSTALLED_DEV) ## run the test suite, README examples included
	@$(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

test-fast: $(INSTALLED_DEV) ## run the unit tests, which take less than a minute
	@$(BIN)/python -m pytest -q -n auto tests/unit

LOWEST := .venv-lowest
GAME ?=
test-game: $(INSTALLED_DEV) ## run all tests of one game of rules/ (GAME=ataxx)
	@scripts/test-game $(GAME)

lowest: ## run unit tests and those of the server with the oldest libraries that pyproject.toml allows
	python3 -m venv $(LOWEST)
	$(LOWEST)/bin/pip install -q uv
	VIRTUAL_ENV=$(LOWEST) $(LOWEST)/bin/uv pip install -q --resolution lowest-direct -e '.[dask,llm,lsp]'
	VIRTUAL_ENV=$(LOWEST) $(LOWEST)/bin/uv pip install -q -e '.[dev]'
	NUMBA_CACHE_DIR=$(abspath $(LOWEST))/kernels $(LOWEST)/bin/python -m pytest -n auto --dist loadfile \
		tests/unit tests/integration/server

lint: $(INSTALLED_DEV) ## check style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

conform: $(INSTALLED_DEV) ## compare all engines with every public trace (GGP_SHARED names the folder above conformance/)
	@GGP_CONFORM=all $(BIN)/python -m pytest -n auto --dist worksteal --durations 20 \
		tests/corpus/gdl/test_conformance_corpus.py tests/corpus/gdl/compiler/test_corpus.py \
		tests/corpus/gdl/checks/test_verdicts.py tests/integration/server/commands/test_validate.py \
		tests/integration/gdl/language/test_kif.py \
		tests/integration/gdl/editing/test_fixes.py tests/integration/gdl/editing/test_formatting.py \
		tests/integration/gdl/compiler/test_compiled.py tests/integration/gdl/test_simulation.py \
		tests/integration/server/commands/test_every_game.py tests/integration/rules/test_library_games.py \
		tests/integration/rules/test_counts.py \
		tests/unit/gdl/test_gdl2.py

conform-import: $(INSTALLED_DEV) ## import all public rule files, in some eight minutes of processor time
	@GGP_CONFORM=all $(BIN)/python -m pytest -q tests/corpus/server/importing

FUZZ_GAMES ?= 2000
FUZZ_SEED ?= 0
fuzz: $(INSTALLED_DEV) ## compare all engines on FUZZ_GAMES random rule files, from number FUZZ_SEED on, with a naive evaluator
	@$(BIN)/python -m tests.fuzz --games $(FUZZ_GAMES) --seed $(FUZZ_SEED)

damage: $(INSTALLED_DEV) ## damage each column of the database in more ways than `make test` does
	@GGP_DAMAGE=all $(BIN)/python -m pytest -n auto --dist worksteal tests/integration/server/test_damaged_rows.py

exhaustive: fuzz ## run `make fuzz`, and all tests with nothing left out: conform, conform-import and damage are among them
	@GGP_EXHAUSTIVE=all GGP_CONFORM=all GGP_DAMAGE=all $(BIN)/python -m pytest -n auto --dist loadfile \
		--no-loadscope-reorder --durations 30

MUTANTS ?= *
mutants: $(INSTALLED_DEV) ## change the code in one place at a time, and list the changes that no test notices (MUTANTS="server.match*")
	@scripts/make-venv dev,mutants
	@$(BIN)/mutmut run "$(MUTANTS)"
	@$(BIN)/mutmut results

STRENGTH_S ?= 1
strength: $(INSTALLED_DEV) $(WARM) ## play the matches that measure the search players, STRENGTH_S seconds a move
	@$(BIN)/python -m benchmarks.strength
	@$(BIN)/python -m benchmarks.strength --first mcts --seconds $(STRENGTH_S) --at-least 100
	@$(BIN)/python -m benchmarks.strength --first mcts --second mcts:engine=interpreter --seconds $(STRENGTH_S)
	@$(BIN)/python -m benchmarks.strength --game breakthrough --first mcts --second mcts:engine=interpreter --seconds $(STRENGTH_S)

bench: $(WARM) ## measure the engine beside the field's, with plain C as the yardstick (gcc, GGP_SHARED)
	@$(BIN)/python -m benchmarks.field

PGX_PYTHON ?=
OPENSPIEL_PYTHON ?=
bench-vector: $(WARM) ## measure arrays of plays beside pgx and OpenSpiel (PGX_PYTHON, OPENSPIEL_PYTHON name a Python with each)
	@$(BIN)/python -m benchmarks.vector $(if $(PGX_PYTHON),--pgx-python $(PGX_PYTHON)) \
		$(if $(OPENSPIEL_PYTHON),--openspiel-python $(OPENSPIEL_PYTHON))

load: $(WARM) ## measure the server under load, over real sockets, and write the figures to docs/load.md
	@$(BIN)/python -m benchmarks.load --page docs/load.md

wheel: $(INSTALLED_DEV) ## build sdist and wheel into dist/
	@$(BIN)/python -m build --outdir dist .

release: $(INSTALLED_DEV) ## release VERSION=1.2.0: changelog, checked sdist and wheel in dist/, commit and tag
	@$(BIN)/python -m tools.release $(VERSION)

codes: $(INSTALLED) ## write docs/codes.md from gdl/codes.toml
	@$(BIN)/python -m tools.codes_page > docs/codes.md.new && mv docs/codes.md.new docs/codes.md

api: $(INSTALLED) ## write the tables of docs/api.md from the code
	@$(BIN)/python -m tools.api_page docs/api.md

images: $(INSTALLED_DEV) ## take the pictures of the pages in docs/images, which needs a Chromium
	@$(BIN)/python -m tools.screenshots docs/images

constraints: ## write constraints.txt anew: the newest versions that pyproject.toml allows
	@scripts/renew-constraints

docs: $(INSTALLED) ## build the site of the documentation into build/site
	@scripts/make-venv docs
	@$(BIN)/python -m tools.site build/pages
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet && echo "build/site/index.html"

structure: $(INSTALLED_DEV) ## measure the structure of the packages and write the figures to docs/architecture.md
	@$(BIN)/python -m tools.structure --page docs/architecture.md

modules: ## list the modules with their lines, longest first
	@git ls-files '*.py' | xargs wc -l | sort -rn | head -40

clean: ## remove .venv, caches and what was built
	rm -rf .venv dist build mutants .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml constraints.txt
	@scripts/make-venv
	@touch $@

$(INSTALLED_DEV): pyproject.toml constraints.txt
	@scripts/make-venv dev
	@touch $@ $(INSTALLED)

# The code that becomes part of kernels: they are compiled anew when it has changed.
KERNELS := gdl/compiler/tables.py $(wildcard gdl/compiler/kernels/*.py players/environments/kernels/*.py) \
	$(wildcard players/search/tree/*.py players/search/proof/*.py players/search/planning/patterns/*.py) \
	$(wildcard players/search/alphabeta/*.py players/search/expansion/*.py)
$(WARM): $(KERNELS) | $(INSTALLED)
	@$(BIN)/ggp warm-up
	@touch $@

.PHONY: help warm-up demo docs test test-fast test-game lowest lint conform conform-import fuzz damage exhaustive mutants strength bench bench-vector load wheel release codes api images constraints structure modules clean
