# Names for habit's sake; ./lasthop does the work.

.PHONY: test lint bench reproduce docs lock clean

test:
	./lasthop test

lint:
	./lasthop test --lint

bench:
	./lasthop bench

reproduce:
	./lasthop reproduce

# The guide, in docs/_build/html, and the pages of the crates, in target/doc.
docs:
	./lasthop --version
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-docs.lock
	.venv/bin/python docs/make_keys.py
	.venv/bin/python -m sphinx --quiet --fail-on-warning --keep-going docs docs/_build/html
	cargo doc --workspace --no-deps

# New versions of everything pinned.
lock:
	python3 scripts/lock.py
	cargo update

clean:
	rm -rf .venv target python/lasthop/*.so
