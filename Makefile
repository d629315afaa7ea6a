# Mallacc. `make help` lists what can be done; README.md is the introduction.
#
# JOBS    parallel jobs of the builds                   (default: all cores)
# PREFIX  where `make install` puts things              (default /usr/local)

JOBS    ?= $(shell nproc)
PREFIX  ?= /usr/local
CARGO   ?= cargo
export MALLACC_REVISION := $(shell git rev-parse --short HEAD 2>/dev/null)

TARGET  := $(or $(CARGO_TARGET_DIR),target)
MALLACC := $(TARGET)/release/mallacc
# What tests run: built with the profile that they are built with.
TESTED  := $(TARGET)/debug/mallacc
# The virtual environment of ruff and mypy.
PYTHON_TOOLS := $(TARGET)/python
# Every command that the build, the tests and the demo need, with its Debian package. QEMU is the
# business of `mallacc setup`.
NEEDED  := g++:g++ gcc:gcc perl:perl python3:python3
# What tests would skip without, and what lint-python needs, beside the workloads.
TEST_PACKAGES := chromium nodejs valgrind llvm-22 git xz-utils
WORKLOAD_PACKAGES := perl python3 sqlite3 gcc xalan libxapian-dev g++ dict-foldoc gzip \
  redis-server
STUDY_PACKAGES := a2ps ghostscript imagemagick vorbis-tools tar gcc python3
SUDO    := $(shell test "$$(id -u)" = 0 || echo sudo)

.PHONY: help setup setup-base setup-qemu-user setup-tests setup-workloads setup-study setup-tables \
        setup-lint setup-sma traces build build-tests guest demo check test nightly test-guest \
        test-rust test-pops test-qemu test-rtl rtl-setup test-long test-repeats tour area bench lint \
        lint-python clean install sma-library install-sma

help:
	@echo 'setup            install what is missing (Debian packages), build, and build a QEMU if need be'
	@echo 'setup-qemu-user  install the distribution'\''s QEMU'
	@echo 'setup-workloads  install the programs of workloads/'
	@echo 'setup-tests      the same, and what some tests need: a browser, valgrind, llvm-mca'
	@echo 'setup-study      install the programs of the SMA study'
	@echo 'setup-tables     install what the instruction tables are generated with'
	@echo 'setup-lint       install what lint needs: clang-format, python3-venv'
	@echo 'setup-sma        install what profiling and cross-compiling SMA needs'
	@echo 'traces           record the allocations of the SMA study'\''s programs into ./traces'
	@echo 'build            build the guest allocator, the command and the QEMU plugin'
	@echo 'demo             setup and build, then run mallacc on perl and the microbenchmarks'
	@echo 'check            quick checks after a change: formatting, clippy, tests of the changed crates'
	@echo 'test             all tests except those of the RTL'
	@echo 'nightly          the long tests: test-long, test-repeats, test-qemu, loom, the long proofs'
	@echo 'test-qemu        build the pinned QEMU apart, and test with it'
	@echo 'test-rtl         test the RTL against the model (rtl-setup installs its tools)'
	@echo 'test-long        100 million pops through the models of the malloc cache'
	@echo 'test-repeats     a hundred runs of each program on a busy machine, which must all be identical'
	@echo 'tour             every command of the documentation; TOUR=--long: whole studies too'
	@echo 'area             synthesise the RTL and print its area'
	@echo 'bench            measure speed and memory; raw figures go into bench/runs/'
	@echo 'lint             formatting, clippy, clang-format, lint-python'
	@echo 'lint-python      ruff and mypy over the Python scripts'
	@echo 'install          install into PREFIX ($(PREFIX))'
	@echo 'install-sma      install only the C library of SMA, its header and its pkg-config file'
	@echo 'clean            remove what was built'

setup: setup-base build
	@$(MALLACC) setup --jobs $(JOBS) --install-packages

setup-base:
	@command -v $(CARGO) > /dev/null || { \
	  echo 'make: cargo is missing; install Rust from https://rustup.rs'; exit 1; }
	@missing=''; for pair in $(NEEDED); do \
	  command -v $${pair%%:*} > /dev/null || missing="$$missing $${pair#*:}"; done; \
	test -z "$$missing" || { echo "make: installing$$missing"; \
	  $(SUDO) apt-get update -q && $(SUDO) apt-get install -y -q $$missing; }

# The programs of workloads/, and those whose allocations the SMA study is about.
setup-workloads: PACKAGES := $(WORKLOAD_PACKAGES)
setup-tests: PACKAGES := $(WORKLOAD_PACKAGES) $(TEST_PACKAGES)
setup-study: PACKAGES := $(STUDY_PACKAGES)
setup-tables: PACKAGES := llvm-22 python3
setup-lint: PACKAGES := clang-format python3-venv
setup-sma: PACKAGES := valgrind gcc-arm-none-eabi gcc-riscv64-unknown-elf
setup-qemu-user: PACKAGES := qemu-user
setup-tests setup-workloads setup-study setup-tables setup-lint setup-sma setup-qemu-user:
	@missing=''; for package in $(PACKAGES); do \
	  dpkg -s $$package > /dev/null 2>&1 || missing="$$missing $$package"; done; \
	test -z "$$missing" || { $(SUDO) apt-get update -q && $(SUDO) apt-get install -y -q $$missing; }

guest:
	@$(MAKE) --no-print-directory -C guest -j $(JOBS)

build: guest
	$(CARGO) build --release -j $(JOBS) -p mallacc -p mallacc-feeder -p mallacc-recorder \
	  -p mallacc-study

traces: build
	@workloads/traces/record.sh $(MALLACC) traces

demo: setup
	@workloads/demo.sh $(MALLACC)

# Against the last commit; BASE=REV compares with another one.
check:
	@tools/check.py --base $(or $(BASE),HEAD) --jobs $(JOBS)

test: setup-base test-guest test-rust test-pops

# One profile and one command for libraries, plugin, programs and tests: cargo then settles on the
# same features for all of them and builds nothing twice. Examples and benches are left to `lint`.
# Then the QEMU that the tests run under, whichever is found.
build-tests: guest
	$(CARGO) build --workspace --lib --bins --tests -j $(JOBS)
	$(TESTED) setup --jobs $(JOBS) --install-packages

test-guest: build-tests
	MALLACC_QEMU="$$($(TESTED) setup --path)" $(MAKE) --no-print-directory -C guest -j $(JOBS) test

test-rust: build-tests
	$(CARGO) test --workspace --lib --bins --tests --no-fail-fast -j $(JOBS)
	$(CARGO) test --workspace --doc --no-fail-fast -j $(JOBS)

# Every pop of ten million is checked against the true list, under two sizes of the malloc cache.
test-pops: test-rust
	$(TARGET)/debug/mallacc micro tp --iterations 200000 --repeats 26 --sample 10M:100k:100k \
	  --no-store --config none --config mallacc:entries=16 --config mallacc:entries=32

# Programs that must give the same stream every time, a hundred times each, all processors busy.
test-repeats: guest
	MALLACC_REPEATS=100 $(CARGO) test -p mallacc-launch -j $(JOBS) --test all determinism::

# 100 million pops in the model that the guest's tests bring, and again in the simulator: 13 x 4
# million allocations under two sizes of the malloc cache. A wrong pointer fails the run.
test-long: build
	$(MAKE) --no-print-directory -C guest -j $(JOBS) test-long
	$(MAKE) --no-print-directory -C sma/sma test-long
	$(MALLACC) micro tp --iterations 4000000 --repeats 13 --sample 20M:100k:100k --no-store \
	  --config none --config mallacc:entries=16 --config mallacc:entries=32

# The pinned QEMU, built into a folder of its own, under everything that starts programs.
test-qemu: APART = env -u MALLACC_QEMU XDG_CACHE_HOME=$(abspath $(TARGET))/pinned $(TESTED) setup
test-qemu: build-tests
	$(APART) --force --jobs $(JOBS) --install-packages
	MALLACC_QEMU="$$($(APART) --path)" $(CARGO) test -p mallacc-launch -p mallacc -j $(JOBS) \
	  --test all --no-fail-fast

test-rtl rtl-setup area:
	@test -f rtl/Makefile || { echo 'make: rtl/ is missing'; exit 1; }
	$(MAKE) --no-print-directory -C rtl $(patsubst rtl-setup,setup,$(patsubst test-rtl,test,$@))

# Every command of the documentation, from an empty folder; TOUR=--long adds whole studies.
tour: build
	@python3 tools/tour.py --mallacc $(MALLACC) $(TOUR)

nightly: test-long test-repeats test-qemu
	$(MAKE) --no-print-directory -C sma/sma loom
	$(MAKE) --no-print-directory -C rtl test-long formal-long

bench: build
	@python3 bench/run.py $(MALLACC)

lint: setup-lint lint-python
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -j $(JOBS) -- -D warnings
	cd guest && clang-format --dry-run --Werror */*.h */*.cc
	clang-format --style=file:guest/.clang-format --dry-run --Werror workloads/*/*.cc
	clang-format --style=file:guest/.clang-format --dry-run --Werror crates/cli/tests/allocators/*.c

# Installed again when the versions change.
$(PYTHON_TOOLS)/installed: tools/requirements.txt
	@python3 -m venv $(PYTHON_TOOLS) || { \
	  echo 'make: cannot create a virtual environment; run make setup-lint'; exit 1; }
	$(PYTHON_TOOLS)/bin/python -m pip install --quiet --disable-pip-version-check -r $<
	@touch $@

lint-python: export RUFF_CACHE_DIR := $(PYTHON_TOOLS)/ruff-cache
lint-python: export MYPY_CACHE_DIR := $(PYTHON_TOOLS)/mypy-cache
lint-python: $(PYTHON_TOOLS)/installed
	$(PYTHON_TOOLS)/bin/ruff check
	$(PYTHON_TOOLS)/bin/ruff format --check
	$(PYTHON_TOOLS)/bin/mypy

# The C library of SMA without the standard library: small programs are linked with it.
sma-library:
	$(CARGO) rustc -j $(JOBS) -p sma-c --crate-type staticlib --no-default-features \
	  --features abort --profile sma

install-sma: VERSION = $(shell sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml)
install-sma: sma-library
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig
	install -m 644 sma/sma-c/include/sma.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(TARGET)/sma/libsma_c.a $(DESTDIR)$(PREFIX)/lib/libsma.a
	strip --strip-debug $(DESTDIR)$(PREFIX)/lib/libsma.a
	sed -e 's|@PREFIX@|$(abspath $(PREFIX))|' -e 's|@VERSION@|$(VERSION)|' sma/sma-c/sma.pc.in \
	  > $(DESTDIR)$(PREFIX)/lib/pkgconfig/sma.pc

install: build install-sma
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib/mallacc/micro \
	  $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/share/mallacc
	install $(MALLACC) $(DESTDIR)$(PREFIX)/bin/
	install -m 644 $(TARGET)/release/libmallacc_feeder.so \
	  $(TARGET)/release/libmallacc_recorder.so guest/build/libmallacc_guest.so \
	  guest/build/libmallacc_guest_plain.so $(DESTDIR)$(PREFIX)/lib/mallacc/
	install $(TARGET)/release/mallacc-sma-driver $(DESTDIR)$(PREFIX)/lib/mallacc/
	for program in $(basename $(notdir $(wildcard guest/micro/*.cc))); do \
	  install guest/build/micro/$$program $(DESTDIR)$(PREFIX)/lib/mallacc/micro/ || exit 1; done
	install -m 644 guest/include/mallacc.h $(DESTDIR)$(PREFIX)/include/
	cp -r workloads $(DESTDIR)$(PREFIX)/share/mallacc/

clean:
	$(CARGO) clean
	rm -rf build guest/build
