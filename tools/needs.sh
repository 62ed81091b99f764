# shellcheck shell=bash
# Installs what a purpose of tools/needs.txt is missing. Sourced by ./foretell
# and ./test, which set `root` to the source tree; all it prints goes to stderr.

# Prints "package|why" for each need of the purposes $1 ("product" or
# "product test") that is not there.
MissingNeeds() {
  local purpose package probe why
  while IFS='|' read -r purpose package probe why; do
    [[ " $1 " == *" $purpose "* ]] || continue
    if [[ $probe == /* ]]; then
      [[ -e $probe ]] || echo "$package|$why"
    else
      type -P "$probe" >/dev/null || echo "$package|$why"
    fi
  done <"$root/tools/needs.txt"
}

# Installs what is missing for the purposes $1; $2 names the program that asks.
# Without the right to install, says the one line that does it and exits with 2.
InstallNeeds() {
  local missing packages log package why
  missing=$(MissingNeeds "$1")
  [[ -n $missing ]] || return 0
  packages=$(cut -d'|' -f1 <<<"$missing" | tr '\n' ' ')
  packages=${packages% }

  local line="apt-get update && apt-get install -y --no-install-recommends $packages"
  local -a as_root=()
  if ! type -P apt-get >/dev/null; then
    echo "$2: these are missing, and this system has no apt-get to install" \
      "them: $packages (Debian 12's names)" >&2
    exit 2
  fi
  if [[ $(id -u) != 0 ]]; then
    if type -P sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      echo "$2: these packages are missing and installing them needs root." \
        "Run this line, then the same command again:" >&2
      if type -P sudo >/dev/null; then
        echo "  sudo sh -c '$line'" >&2
      else
        echo "  su -c '$line'" >&2
      fi
      exit 2
    fi
  fi

  echo "$2: installs with apt-get what is missing:" >&2
  while IFS='|' read -r package why; do
    printf '  %-20s %s\n' "$package" "$why" >&2
  done <<<"$missing"
  log="$root/build/install.log"
  mkdir -p "$root/build"
  # A mirror that fails to update may still have what is needed.
  as_root+=(env DEBIAN_FRONTEND=noninteractive apt-get -q
    -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3)
  "${as_root[@]}" update >"$log" 2>&1 </dev/null || true
  # shellcheck disable=SC2086  # $packages is a list of words
  if ! "${as_root[@]}" install -y --no-install-recommends $packages \
    >>"$log" 2>&1 </dev/null; then
    cat "$log" >&2
    echo "$2: apt-get failed; its messages are above and in $log." \
      "The line to repeat: $line" >&2
    exit 2
  fi
}
