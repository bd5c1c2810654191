# Names for habit's sake; ./lasthop does the work.

.PHONY: test lint bench reproduce docs site web codemirror pgo dist lock clean

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

# The guide with the playground, as files that any host can serve: docs/_build/html.
site: docs web
	.venv/bin/python -m sphinx --quiet --fail-on-warning --keep-going -D playground=studio docs docs/_build/html
	./lasthop studio -o docs/_build/html/studio

# The simulator for pages, which `lasthop studio` serves: python/lasthop/data/web/lasthop.wasm.
web:
	./lasthop --version
	.venv/bin/python -m lasthop.tools.web

# The editor of the pages, as one file of the versions in scripts/codemirror.
codemirror:
	cd scripts/codemirror && npm ci --silent && npm run --silent build

# Keeps the folders of the machine that builds out of the wheel.
NO_FOLDERS = --remap-path-prefix=$(CURDIR)=lasthop --remap-path-prefix=$${CARGO_HOME:-$$HOME/.cargo}=cargo

# A profile of the cases of the benchmark by the code and compiler of this checkout, and a build with it (docs/speed.md).
pgo:
	./lasthop --version
	.venv/bin/python bench/pgo.py
	./lasthop --version

# What is published, in dist: the sources, and a wheel for every Linux with glibc 2.17 or newer.
dist: web
	.venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-release.lock
	.venv/bin/maturin sdist --out dist
	PATH="$(CURDIR)/.venv/bin:$$PATH" RUSTFLAGS="$(NO_FOLDERS)" \
		maturin build --locked --zig --compatibility manylinux2014 --out dist

# New versions of everything pinned.
lock:
	python3 scripts/lock.py
	cargo update

clean:
	rm -rf .venv target python/lasthop/*.so
