# What a developer runs. `make fast` takes about a minute and a half on two cores and imports no PyTorch.
PYTHON ?= .venv/bin/python
export PYTHONDONTWRITEBYTECODE =

.PHONY: install fast check fix run

install:  ## everything, the tests' packages and a browser included, into .venv
	bash install.sh tests

fast:  ## the tests that need neither PyTorch nor a browser nor much time
	OMP_NUM_THREADS=1 $(PYTHON) -m pytest -m "not (slow or torch or browser or durability)" --numprocesses 2 --dist loadfile

check:  ## everything, as CI runs it
	bash tests/run

fix:  ## what can be corrected by itself
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

run:  ## the dashboard
	$(PYTHON) -m streamlit run dashboard/app.py
