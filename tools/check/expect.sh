# shellcheck shell=bash
# What the tests of scripts share; sourced. Each case runs in a folder of its
# own and prints "PASS name" or "FAIL name: why".

tools=$(CDPATH='' cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
work=$(mktemp -d)
trap 'chmod -R u+w -- "$work"; rm -rf -- "$work"' EXIT
failed=0

Pass() { echo "PASS $1"; }
Fail() {
  echo "FAIL $1: $2"
  failed=1
}

# Expect NAME STATUS PATTERN COMMAND...: the command exits with STATUS and the
# extended pattern matches what it prints.
Expect() {
  local name=$1 want=$2 pattern=$3 status=0 output
  shift 3
  output=$("$@" 2>&1) || status=$?
  if ((status != want)); then
    Fail "$name" "exit $status, not $want: $output"
  elif ! grep -qE -- "$pattern" <<<"$output"; then
    Fail "$name" "prints no line like '$pattern': $output"
  else
    Pass "$name"
  fi
}

# Makes the file $1 of the lines that follow, and the folders above it.
Write() {
  mkdir -p -- "$(dirname -- "$1")"
  local file=$1
  shift
  printf '%s\n' "$@" >"$file"
}
