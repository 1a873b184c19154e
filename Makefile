# Two commands: `make run` opens qterm, `make test` runs every check.
PYTHON ?= python3
ARGS ?=
VENV := .venv
NEWER := .venv-newer
BIN := $(VENV)/bin

.PHONY: run env test lint types contracts check test-system bench snapshots pictures lock clean

run: $(VENV)/.ready
	@$(BIN)/qterm $(ARGS)

env: $(VENV)/.ready $(NEWER)/.ready

# The environment with qterm and hermes-agent, every package pinned and checked by its hash.
$(VENV)/.ready: requirements.lock pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# The newer hermes line, in an environment of its own: only the tests use it.
$(NEWER)/.ready: requirements-newer.lock
	$(PYTHON) -m venv $(NEWER)
	$(NEWER)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-newer.lock
	@touch $@

test: env lint types contracts check

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready
	$(BIN)/mypy

contracts: $(VENV)/.ready
	$(BIN)/lint-imports

# Two at a time, a file each: half of the time is waiting for hermes. What is typed on a real
# terminal gets both cores to itself.
check: env
	$(BIN)/pytest -m "not system" --ignore tests/tui/test_terminal.py -n 2 --dist loadfile
	$(BIN)/pytest -m "not system" tests/tui/test_terminal.py

test-system: env
	$(BIN)/pytest -m system

bench: env
	$(BIN)/python -m bench

# After a look at what has changed: `make snapshots` accepts the screens as they are now.
snapshots: env
	$(BIN)/pytest tests/tui -m "not system" --snapshot-update

# The README's pictures, of the real hermes with the rehearsal's model.
pictures: $(VENV)/.ready
	$(BIN)/python docs/pictures.py

lock:
	uv pip compile pyproject.toml --extra hermes --extra dev --universal --generate-hashes --no-header --python-version 3.11 -o requirements.lock
	uv pip compile requirements-newer.in --universal --generate-hashes --no-header --python-version 3.11 -o requirements-newer.lock

clean:
	rm -rf $(VENV) $(NEWER)
