# SPDX-License-Identifier: MIT
# The front door; the building is done by Meson and Ninja. `make demo` and `make check` each do all
# set-up themselves.
B ?= build
SECONDS ?= 60
ROUNDS ?= 50
MESONFLAGS ?=
own = tools/as-owner
# $(call build,FOLDER,FLAGS OF SETUP); what ninja is to build may follow
build = { test -f $(1)/build.ninja || $(own) meson setup $(1) $(2) $(MESONFLAGS); } && \
	$(own) ninja -C $(1)

asanflags = -Db_sanitize=address$(,)undefined -Db_lundef=false -Dc_args=-DARENA_DEBUG
fuzzflags = -Dfuzz=true -Db_sanitize=address$(,)undefined -Db_lundef=false -Dbindings=none

all:
	@tools/setup build
	@$(call build,$(B),)

demo:
	@tools/quietly $(B)/demo.log '1/3 checking what the build needs' tools/setup build record
	@test -f $(B)/build.ninja || \
		tools/quietly $(B)/demo.log '2/3 configuring $(B)' \
			$(own) meson setup $(B) $(MESONFLAGS)
	@tools/quietly $(B)/demo.log '3/3 building $(B)/sonde; the output goes to $(B)/demo.log' \
		$(own) ninja -C $(B)
	@echo
	@tools/demo $(B)

check:
	@tools/setup test record
	@$(call build,$(B),)
	@tests/check $(B)

# For while you work: units, golden files, and what scripts may rely on, within 60 seconds of CPU.
quick:
	@tools/setup test
	@$(call build,$(B),) --quiet
	@tests/check $(B) --quick

# What takes too long or too much for `make check`: soak, bounds, sweep, fuzz, all combinations;
# hours, and 5 GB in /var/tmp. HEAVYFLAGS='-k sweep', or less of each: see tests/heavy.
heavy:
	@tools/setup test record fuzz browser shark
	@$(call build,$(B),) --quiet
	@export CC=clang; $(call build,$(B)-fuzz,$(fuzzflags)) --quiet fuzz tests/sweep/sweep sonde
	@tests/heavy $(B) $(B)-fuzz --seconds $(SECONDS) --rounds $(ROUNDS) $(HEAVYFLAGS)

# Texts compared with perf's under all option sets, over all recordings: of report, and of script.
matrix:
	@tools/setup test record
	@$(call build,$(B),) --quiet
	@tests/report/matrix $(B)/sonde
	@tests/roundtrip/matrix.py $(B)/sonde --all

# What can go wrong while recording, ROUNDS times.
soak:
	@tools/setup test record
	@$(call build,$(B),) --quiet
	@tests/soak $(B) -n $(ROUNDS)

asan:
	@tools/setup test record
	@$(call build,$(B)-asan,$(asanflags))
	@SONDE_ASAN=1 tests/check $(B)-asan

fuzz:
	@tools/setup build fuzz
	@export CC=clang; $(call build,$(B)-fuzz,$(fuzzflags)) fuzz
	@tests/fuzz/run $(B)-fuzz $(SECONDS)

# Recordings cut at every record and with random bits flipped, without and with sanitizers.
# SWEEPFLAGS='--seed 2' for others.
sweep:
	@tools/setup build fuzz
	@$(call build,$(B),) tests/sweep/sweep
	@export CC=clang; $(call build,$(B)-fuzz,$(fuzzflags)) tests/sweep/sweep
	@tests/sweep/run $(B) $(SWEEPFLAGS)
	@UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 tests/sweep/run $(B)-fuzz $(SWEEPFLAGS)

bench:
	@tools/setup build record
	@$(call build,$(B),) --quiet
	@bench/run $(B) $(BENCHFLAGS)
	@bench/compressed $(B)
	@bench/record $(B) $(RECORDFLAGS)
	@bench/columns $(B)
	@bench/import $(B)
	@bench/mixed $(B)
	@bench/ctf $(B)
	@bench/tracedat $(B)
	@bench/live $(B)

# The most that reading takes: of 4 GB, of a million threads and mappings. Takes 5 GB in /var/tmp
# for some minutes.
bounds:
	@tools/setup build
	@$(call build,$(B),) --quiet
	@bench/bounds $(B) $(BOUNDSFLAGS)

fmt:
	@tools/setup fmt
	@git ls-files '*.c' '*.h' | xargs clang-format -i

install:
	@tools/setup build
	@$(call build,$(B),)
	@$(own) meson configure $(B) $(if $(PREFIX),-Dprefix=$(abspath $(PREFIX)))
	@$(own) ninja -C $(B)
	@meson install --no-rebuild -C $(B) $(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))
	@cat $(B)/meson-logs/install-log.txt >>$(B)/meson-logs/sonde-installed.txt
	@DESTDIR=$(DESTDIR) tools/after-install $(B)/install-paths
	@test -z "$$SUDO_UID" || chown -R --reference=. $(B)

uninstall:
	@test -f $(B)/build.ninja || { tools/setup build && $(own) meson setup $(B) \
		$(MESONFLAGS) $(if $(PREFIX),-Dprefix=$(abspath $(PREFIX))); }
	@tools/uninstall $(B) $(if $(PREFIX),--prefix $(abspath $(PREFIX))) \
		$(if $(DESTDIR),--destdir $(abspath $(DESTDIR)))

# Sonde's extension for further perls: make perl PERL=/opt/perl/bin/perl
perl:
	@test -n "$(PERL)" || { echo 'make perl PERL=/path/to/perl [another...]'; exit 2; }
	@tools/setup build
	@$(call build,$(B),) --quiet
	@$(own) meson configure $(B) \
		-Dperl=/usr/bin/perl$(subst $() ,,$(foreach p,$(PERL),$(,)$(p)))
	@$(own) ninja -C $(B)

clean:
	rm -rf $(B) $(B)-asan $(B)-fuzz

, := ,
.PHONY: all demo check quick heavy matrix soak asan fuzz sweep bench bounds fmt
.PHONY: install uninstall perl clean
