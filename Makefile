# make run URL=...   the main content of a page, on a machine where nothing is installed yet
# make test          everything installed, then all tests
# make lint          ruff and mypy
# make bench         the slow measurements
# make clean         remove what the targets above have made

MAKEFLAGS += --no-print-directory
.NOTPARALLEL:
.PHONY: run test lint bench clean

BIN := .venv/bin
PIP := $(BIN)/pip install -q
URL ?= data/samples/article.html
# An address may hold `$`, `&` and quotes: it reaches the shell as it is, and only by the environment.
unexport URL

run: export SOURCE := $(value URL)
run: .venv/.browser
	@$(BIN)/pagesight extract -- "$$SOURCE"

test: .venv/.dev .venv/.browser
	@$(BIN)/pytest -q -n 2 --dist loadfile

lint: .venv/.dev
	@$(BIN)/ruff check -q .
	@$(BIN)/ruff format -q --check .
	@MYPYPATH=.venv/src $(BIN)/mypy -p pagesight --exclude '/(build|dist|tests)/'

bench: .venv/.dev .venv/.browser
	@$(BIN)/pytest -q -s -m bench

clean:
	@rm -rf .venv build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@sh .ci/venv

# A small environment is enough to extract; training and the tests need torch.
.venv/.package: pyproject.toml | .venv/bin/python
	@echo 'installing pagesight in .venv' >&2
	@$(PIP) -e .
	@touch $@

.venv/.dev: pyproject.toml | .venv/bin/python
	@echo 'installing pagesight in .venv, with torch and what it is compared with: some gigabytes, some minutes' >&2
	@$(PIP) --upgrade 'pip>=23.3' # older ones stop where an extra of lxml is spelled in two ways
	@$(PIP) -e '.[train,compare,dev]'
	@mkdir -p .venv/src
	@ln -sfn ../.. .venv/src/pagesight # mypy looks up packages by the folder's name
	@touch .venv/.package $@

.venv/.browser: | .venv/.package
	@$(BIN)/pagesight setup >&2
	@touch $@
