# SPDX-License-Identifier: MIT
# Sourced by the tools that unpack Debian packages in a folder, without installing them, for tests
# that need them.
#
#	aside_enter FOLDER	makes it, enters it, waits for others who do the same; sets $folder
#				and $root, where packages go
#	aside_archive SUFFIX...	lists of the suites CODENAME and CODENAME-SUFFIX, of the archive
#				that apt is configured with
#	apt COMMAND...		a command of apt with these lists, and downloads to $folder/apt
#	cannot WORDS		prints why it is not available, with status 77, and remembers it
#				for an hour

cannot() {
	echo "$*" | tee "$folder/why-not" >&2
	exit 77
}

aside_enter() {
	mkdir -p "$1" || exit 77
	folder=$(cd "$1" && pwd)
	root=$folder/root
	exec 9>"$folder/lock"
	flock 9 # several tests may want it at once
	cd "$folder" || exit 77
}

aside_known_missing() {
	[ -n "$(find "$folder/why-not" -mmin -60 2>/dev/null)" ] || return 0
	cat "$folder/why-not" >&2
	exit 77
}

apt() {
	timeout 100 "$@" -o Dir::Etc::SourceList="$folder/apt/sources" \
		-o Dir::Etc::SourceParts=/dev/null -o Dir::State::Lists="$folder/apt/lists" \
		-o Dir::Cache="$folder/apt" -o APT::Sandbox::User= -o Acquire::Languages=none \
		-o Acquire::Retries=1 -o Acquire::http::Timeout=15 >"$folder/log" 2>&1
}

aside_archive() { # what it is for is the first word
	what=$1
	shift
	command -v apt-get >/dev/null && command -v dpkg >/dev/null ||
		cannot "no apt here, so no $what"
	[ "$(dpkg --print-architecture)" = amd64 ] ||
		cannot "$what is taken from Debian on amd64 only"
	codename=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	archive=$(apt-get update --print-uris 2>/dev/null |
		sed -n "s,^'\(.*\)/dists/$codename/InRelease' .*,\1,p" | head -n 1)
	[ -n "$archive" ] || cannot "apt knows no archive of '$codename', so no $what"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	[ -e $keyring ] && signed="[signed-by=$keyring] " || signed=
	mkdir -p "$folder/apt/lists/partial" "$folder/apt/archives/partial" "$root"
	for suite in "$codename" "$@"; do
		[ "$suite" = "$codename" ] || suite=$codename-$suite
		echo "deb $signed$archive $suite main"
	done >"$folder/apt/sources"
	apt apt-get update || cannot "no $what: $codename $* cannot be reached:" \
		"$(grep -m 1 '^[EW]:' "$folder/log")"
}
