#!/bin/sh
# What the examples share: a folder of their own, processes that end with them, and words. To be sourced.
set -eu
umask 022

command -v daolease >/dev/null || {
	echo "daolease is not on PATH: go install . in the checkout puts it there" >&2
	exit 1
}
# shellcheck disable=SC2034 # for hooks, which have a PATH of their own
program=$(command -v daolease)
work=$(mktemp -d)
chmod 755 "$work" # what others could write into is not read
started=''

# starts PID: it is ended when the example ends.
starts() { started="$started $1"; }
cleanup() {
	for pid in $started; do
		kill "$pid" 2>/dev/null || continue
		kill -CONT "$pid" 2>/dev/null || true
	done
	for pid in $started; do wait "$pid" 2>/dev/null || true; done
	rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 1' INT TERM HUP

say() { echo "-- $*"; }
fail() {
	echo "FAILED: $*" >&2
	for log in "$work"/*.log; do
		[ ! -e "$log" ] || sed "s|^|    ${log##*/}: |" "$log" >&2
	done
	exit 1
}
skip() {
	echo "SKIPPED: $*"
	exit 0
}
# exits CODE COMMAND...: it must end with that code. What it says is in $said.
exits() {
	want=$1 code=0
	shift
	said=$("$@" 2>&1) || code=$?
	[ "$code" -eq "$want" ] || fail "$* ended with $code, not $want: $said"
}
# until_true COMMAND...: waits until it succeeds, at most half a minute.
until_true() {
	tries=0
	until "$@" >/dev/null 2>&1; do
		tries=$((tries + 1))
		[ "$tries" -lt 600 ] || fail "never came true: $*"
		sleep 0.05
	done
}
# judge_at DIR: a judge runs there until the example ends.
judge_at() {
	daolease -C "$1" judge 2>>"$work/judge.log" &
	starts $!
}
# compose DIR: a composition with the daolease.yaml that stands on stdin.
compose() {
	mkdir -p "$1/hooks"
	cat >"$1/daolease.yaml"
}
# hook DIR NAME: a procedure that stands on stdin.
hook() {
	cat >"$1/hooks/$2"
	chmod 755 "$1/hooks/$2"
}
