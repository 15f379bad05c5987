# SPDX-License-Identifier: MIT
# The front door; the building is done by Meson and Ninja.
B ?= build

all:
	@test -f $(B)/build.ninja || meson setup $(B)
	ninja -C $(B)
.PHONY: all
