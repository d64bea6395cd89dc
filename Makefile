# `make` lists what there is. Everything runs in .venv, which is made when it is needed.
.DEFAULT_GOAL := help
BIN := .venv/bin
INSTALLED := .venv/.installed
INSTALLED_DEV := .venv/.installed-dev
# The public rule files and traces, where they are at hand; tests that need them say so when they are not.
export GGP_SHARED ?= $(abspath ../shared)

help: ## list the targets
	@awk -F':.*## ' '/^[a-z]+:.*## / {printf "make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(INSTALLED) ## play Amazons over HTTP, game manager and two players on this machine
	@$(BIN)/ggp demo

test: $(INSTALLED_DEV) ## run the test suite, README examples included
	@$(BIN)/python -m pytest -n auto --dist loadgroup

lint: $(INSTALLED_DEV) ## check style, types and import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

conform: $(INSTALLED_DEV) ## compare all engines with every public trace (GGP_SHARED names the folder above conformance/)
	@GGP_CONFORM=all $(BIN)/python -m pytest -n auto --dist worksteal --durations 20 \
		tests/gdl/test_conformance_corpus.py tests/gdl/compiler/test_corpus.py

STRENGTH_S ?= 1
strength: $(INSTALLED_DEV) ## play the matches that measure the search players, STRENGTH_S seconds a move
	@$(BIN)/python -m players.strength
	@$(BIN)/python -m players.strength --first mcts --seconds $(STRENGTH_S) --at-least 100
	@$(BIN)/python -m players.strength --first mcts --second mcts:engine=interpreter --seconds $(STRENGTH_S)
	@$(BIN)/python -m players.strength --game breakthrough --first mcts --second mcts:engine=interpreter --seconds $(STRENGTH_S)

bench: $(INSTALLED) ## measure the engine beside the field's, with plain C as the yardstick (gcc, GGP_SHARED)
	@$(BIN)/python -m server.comparison

load: $(INSTALLED) ## measure the server under load, over real sockets, and write the figures to docs/load.md
	@$(BIN)/python -m server.load --page docs/load.md

wheel: $(INSTALLED_DEV) ## build sdist and wheel into dist/
	@$(BIN)/python -m build --outdir dist .

codes: $(INSTALLED) ## write docs/codes.md from gdl/codes.toml
	@$(BIN)/python -m gdl.codes_page > docs/codes.md.new && mv docs/codes.md.new docs/codes.md

api: $(INSTALLED) ## write the tables of docs/api.md from the code
	@$(BIN)/python -m server.api.page docs/api.md

modules: ## list the modules with their lines, longest first
	@git ls-files '*.py' | xargs wc -l | sort -rn | head -40

clean: ## remove .venv, caches and what was built
	rm -rf .venv dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(INSTALLED): pyproject.toml
	@scripts/make-venv
	@touch $@

$(INSTALLED_DEV): pyproject.toml
	@scripts/make-venv dev
	@touch $@ $(INSTALLED)

.PHONY: help demo test lint conform strength bench load wheel codes api modules clean
