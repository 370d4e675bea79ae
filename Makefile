# run · test · build · format · lint · bench · install · deb — `make help` says what each does.
#
# Everything works on a fresh Debian 12, Debian 13 or Ubuntu 24.04 that has a Swift 6.3 toolchain in PATH:
# packages that are missing are installed (.ci/packages.txt), which takes root or sudo the first time.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := help

# debug builds soonest; `make run CONFIGURATION=release` for what is installed.
CONFIGURATION ?= debug
CONFIG ?= etc/reachd.yaml
DESTDIR ?=
PREFIX ?= /usr
SYSCONFDIR ?= /etc

# SwiftPM's native build system: the preview of the other one writes shared libraries that cannot be found again.
SWIFT_FLAGS := --build-system native
BUILD := swift build $(SWIFT_FLAGS) -c $(CONFIGURATION)
SOURCES := $(wildcard Package.swift Sources Plugins Tests Benchmarks Examples)
BENCHMARKS := $(firstword $(wildcard Benchmarks Tests/Benchmarks))
# Plugins must not be writable for others (the agent refuses such), whatever the user's own umask.
UMASK := umask 022

.PHONY: help run test build format lint bench install deb man packages toolchain clean

help: ## this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 18

run: toolchain ## build, then run the agent on etc/reachd.yaml (CONFIG=FILE for another) until Ctrl-C
	@$(UMASK)
	.ci/install-packages build
	$(BUILD)
	exec .build/$(CONFIGURATION)/reachd run --config $(CONFIG) --log-format text

test: toolchain ## build everything and run all tests
	@.ci/install-packages build package test
	.ci/install-python
	exec .ci/test $(SWIFT_FLAGS)

build: toolchain ## build the agent and the plugins
	@$(UMASK)
	.ci/install-packages build
	$(BUILD)

format: toolchain ## format all Swift in place
	@swift format --in-place --parallel --recursive $(SOURCES)

lint: toolchain ## formatting, the project's own rules, and who imports whom
	@$(UMASK)
	.ci/install-packages build
	swift format lint --strict --parallel --recursive $(SOURCES)
	.ci/lint
	swift build $(SWIFT_FLAGS) --explicit-target-dependency-import-check error

bench: toolchain ## the project's own benchmarks, in release
	@$(UMASK)
	.ci/install-packages build test
	if [ -z "$(BENCHMARKS)" ]; then echo "There are no benchmarks here." >&2; exit 1; fi
	swift build $(SWIFT_FLAGS) -c release
	export REACHD_PROGRAM="$$(swift build $(SWIFT_FLAGS) -c release --show-bin-path)/reachd"
	exec swift run $(SWIFT_FLAGS) -c release --package-path $(BENCHMARKS)

install: toolchain ## install a release build under DESTDIR, with the Swift runtime, a configuration and the units
	@$(UMASK)
	.ci/install-packages build package
	DESTDIR='$(DESTDIR)' PREFIX='$(PREFIX)' SYSCONFDIR='$(SYSCONFDIR)' .ci/install $(SWIFT_FLAGS)

deb: toolchain ## make the Debian package dist/reachd_VERSION_ARCHITECTURE.deb
	@.ci/install-packages build package
	.ci/deb $(SWIFT_FLAGS)

man: ## make the man pages in .build/man of the documents that are their source
	@.ci/install-packages package
	.ci/man .build/man

packages: ## install the Debian and the Python packages that are missing
	@.ci/install-packages build package test
	.ci/install-python

toolchain:
	@command -v swift >/dev/null || {
	  echo "There is no swift in PATH. reachd needs the Swift $$(cat .swift-version) toolchain: swift.org/install/linux" >&2
	  exit 1
	}

clean: ## remove what was built
	@rm -rf .build $(if $(BENCHMARKS),$(BENCHMARKS)/.build)
