# What one does with Kith; `make help` lists it.
PYTHON ?= python3
BIN := .venv/bin
PYTEST_FLAGS ?= -n auto --maxprocesses 4 --dist worksteal
LOCK_COMMAND := uv pip compile -q --universal --python-version 3.11 --fork-strategy fewest --no-emit-index-url --no-header
INSTALL := $(PYTHON) -I platform/config/up/install.py
export PYTHONPATH := $(CURDIR)/platform
# What is compiled once is compiled for all of Kith's processes, and lies beside the packages.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/.venv/pycache

.DEFAULT_GOAL := help
.PHONY: $(shell awk -F: '/^[a-z-]+:/ {print $$1}' $(firstword $(MAKEFILE_LIST)))

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-21s%s\n", $$1, $$2}' $(MAKEFILE_LIST)

up: ## install what is missing, start Kith, and print its address; Ctrl-C stops it
	@$(INSTALL)
	@exec $(BIN)/python -m config.up --with-parent

test: dev ## run the tests (PYTEST_FLAGS="-n 0 tests/memory" runs some of them, one at a time)
	@exec $(BIN)/python -m pytest $(PYTEST_FLAGS)

migrations: dev ## write the migrations that changed models need (OPTIONS="companions --name what_it_does" names one)
	$(BIN)/python -m tests.fixtures.embedded $(BIN)/python manage.py makemigrations $(OPTIONS)
	@find companions memory platform voice -name migrations -exec $(BIN)/ruff format -q {} +

translate: dev ## add new texts to locale/, list those without a Chinese translation, and compile the others
	$(BIN)/python -m tests.fixtures.embedded $(BIN)/python manage.py translate

check: dev ## run all checks: format, lint, types, migrations, tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m tests.fixtures.embedded $(BIN)/python manage.py makemigrations --check --dry-run
	@exec $(BIN)/python -m pytest $(PYTEST_FLAGS)

bench: dev ## measure latency, load and idle memory on this machine
	@exec $(BIN)/python -m bench.run

bench-memorybank: dev ## measure recall on MemoryBank's files: DATA=folder with memory_bank_en.json and memory_bank_cn.json
	@test -n "$(DATA)" || { echo "Say where the files are: make bench-memorybank DATA=folder"; exit 1; }
	@exec $(BIN)/python -m bench.memorybank $(DATA)

bench-recall: dev ## measure recall on conversations with labelled questions: DATA=a file of LoCoMo or REALTALK, or their folder
	@test -n "$(DATA)" || { echo "Say where the talks are: make bench-recall DATA=path"; exit 1; }
	@exec $(BIN)/python -m bench.recall $(DATA) $(OPTIONS)

bench-talk: dev ## measure which memories reach the prompts of a talk: DATA=as for bench-recall, or a folder with MemoryBank's files
	@test -n "$(DATA)" || { echo "Say where the talks are: make bench-talk DATA=path"; exit 1; }
	@exec $(BIN)/python -m bench.talk $(DATA) $(OPTIONS)

bench-prompts: dev ## print how many tokens each kind of request to the model takes, and how many of them are new in each turn
	@exec $(BIN)/python -m bench.prompts

bench-learning: dev ## measure what is learnt from scripted talks, and what is missed (OPTIONS="--list dev" names each mistake)
	@exec $(BIN)/python -m bench.learning $(OPTIONS)

bench-scale: dev ## measure recall in large memories, up to a million (OPTIONS="--total 20000" for fewer)
	@exec $(BIN)/python -m bench.scale $(OPTIONS)

bench-peers: dev ## ask mem0 the questions of bench-recall, over the same vectors: DATA=as there
	@test -n "$(DATA)" || { echo "Say where the talks are: make bench-peers DATA=path"; exit 1; }
	@exec $(BIN)/python -m bench.peers $(DATA) $(OPTIONS)

bench-ten-days: dev ## replay ten days of MemoryBank's people and check all that is written: DATA=folder as above
	@test -n "$(DATA)" || { echo "Say where the files are: make bench-ten-days DATA=folder"; exit 1; }
	@exec $(BIN)/python -m bench.ten_days $(DATA) $(OPTIONS)

bench-life: dev ## measure the tick with a million timers (OPTIONS=days: ten thousand days; OPTIONS=kills: two hundred kills)
	@exec $(BIN)/python -m bench.life $(OPTIONS)

bench-voice: dev ## measure what Kith adds between a model and a voice, for one call and for ten at once
	@exec $(BIN)/python -m bench.voice $(OPTIONS)

bench-crowd: dev ## measure 500 event streams and 500 sockets of 100 people at once, on one web process
	@exec $(BIN)/python -m bench.crowd $(OPTIONS)

bench-search: dev ## measure the search of a talk of 300,000 messages, and going to any place in it
	@exec $(BIN)/python -m bench.search $(OPTIONS)

bench-pasts: dev ## measure how soon a past of 10,000 messages from a file is recallable, and undone
	@exec $(BIN)/python -m bench.pasts $(OPTIONS)

bench-long-talk: dev ## measure a talk of 50,000 messages in a browser: opening, going to a day, scrolling, typing
	@exec $(BIN)/python -m bench.long_talk $(OPTIONS)

bench-branches: dev ## measure choosing another branch of a talk of 5,000 and of 50,000 messages, and recall with 50 branches
	@exec $(BIN)/python -m bench.branches $(OPTIONS)

bench-hostile: dev ## upload every hostile card, past and archive of the tests: print what is said, what it costs and what is left (OPTIONS="--only pasts")
	@exec $(BIN)/python -m bench.hostile $(OPTIONS)

prove-attacks: dev ## attack a Kith as `make test` does, and print how long another user waits meanwhile
	@exec $(BIN)/python -m pytest -n 0 -v -s tests/crowd/test_availability.py

prove-flaky-line: dev ## talk in a browser over a connection that is cut at random (COUNT=200 times): nothing is lost or repeated
	@exec env PROOF_CUTS=$(or $(COUNT),200) $(BIN)/python -m pytest -n 0 -v -s tests/browser/test_flaky_line.py

prove-kept-model: dev ## talk for many turns while providers fail and vanish: the companion's own model answers, or the answer says so (COUNT=1000)
	@exec env PROOF_TURNS=$(or $(COUNT),1000) $(BIN)/python -m pytest -n 0 -v -s tests/companions/test_kept_model.py

prove-branches: dev ## walk over branches at random (COUNT=100000 steps), and compare what is known with the path after each
	@exec env PROOF_STEPS=$(or $(COUNT),100000) $(BIN)/python -m pytest -n 2 -v -s tests/companions/branches/test_oracle.py

prove-archive: dev ## move a companion of 5,000 messages to a second Kith, killing the restore on the way: rows and recall are the same
	@exec $(BIN)/python -m bench.archive $(OPTIONS)

prove-properties: dev ## try two thousand new examples of each property that `make test` tries on fixed ones (OPTIONS=schedules: only those)
	@exec $(BIN)/python -m pytest $(PYTEST_FLAGS) --hypothesis-profile=proof --timeout=1800 -m hypothesis -k "$(OPTIONS)"

prove-reach: dev ## look for what is out of reach or covered on any page, on small screens, in landscape and zoomed (OPTIONS="--only talk")
	@exec $(BIN)/python -m bench.reach $(OPTIONS)

prove-readers: dev ## read cards and earlier talk with bytes changed at random (COUNT=2000000 of each, and a thousand in the sandbox): read or refused, nothing else
	@exec env PROOF_FILES=$(or $(COUNT),2000000) $(BIN)/python -m pytest -n 2 -v -s tests/cards/test_fuzz.py tests/pasts/test_fuzz.py

prove-accessibility: dev ## check every page with axe-core, light and dark, on a phone and on a desktop (OPTIONS="--only talk")
	@exec $(BIN)/python -m bench.accessibility $(OPTIONS)

lock: ## regenerate requirements.txt and requirements-dev.txt from their .in files (needs uv)
	$(LOCK_COMMAND) requirements.in -o requirements.txt
	$(LOCK_COMMAND) requirements-dev.in -o requirements-dev.txt

dev:
	@$(INSTALL) --dev

openapi-snapshot: dev ## accept a change of the API's contract
	$(BIN)/python manage.py export_openapi_schema --api config.api.api --indent 2 --output tests/snapshots/openapi.json
