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

# The pages of the crates, in target/doc.
docs:
	cargo doc --workspace --no-deps

# New versions of everything pinned.
lock:
	python3.11 scripts/lock.py
	cargo update

clean:
	rm -rf .venv target python/lasthop/*.so
