# shellcheck shell=bash
# Builds the program for ./foretell, which sources this file: `root` is the
# source tree, ListSources lists its sources. Several may call it at once.
set -o pipefail
# shellcheck source=tools/needs.sh
. "$root/tools/needs.sh"

# Ninja goes by times: a source that changed but looks older than the last
# build (unpacked from an archive, copied with its time) would be missed.
TouchOldChanges() {
  local stamp="$root/build/release/sources.txt" file
  [[ -f $stamp ]] || return 0
  ListSources | LC_ALL=C sort | LC_ALL=C comm -13 \
    <(LC_ALL=C sort "$stamp") - | sed 's/ [0-9]* [0-9.]*$//' |
    while IFS= read -r file; do
      [[ $root/$file -nt $stamp ]] || touch -c -- "$root/$file"
    done
}

# Shows ninja's count on a terminal; keeps everything in the log.
ShowProgress() {
  local line
  while IFS= read -r line; do
    printf '%s\n' "$line" >>"$log"
    if [[ -t 2 && $line =~ ^\[([0-9]+/[0-9]+)\] ]]; then
      printf '\rforetell: builds %s   ' "${BASH_REMATCH[1]}" >&2
    fi
  done
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
}

RunBuild() {
  local -a fresh=()
  # CMake refuses a build folder that was made for a tree elsewhere.
  if [[ -f $build/CMakeCache.txt ]] &&
    ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$build/CMakeCache.txt"
  then
    fresh=(--fresh)
  fi
  if [[ ! -f $build/build.ninja || ${#fresh[@]} != 0 ]]; then
    (CDPATH='' cd -- "$root" && cmake "${fresh[@]}" --preset release) || return 1
  fi
  cmake --build "$build" --target foretell
}

BuildProgram() {
  local build="$root/build/release" log="$root/build/release.log" began=$SECONDS
  if ! mkdir -p -- "$build" 2>/dev/null || ! : 2>/dev/null >>"$build/.lock"
  then
    echo "foretell: cannot write to $root/build, where the program is built." \
      "Copy the checkout to a place that you can write to, and run it there."
    exit 2
  fi
  exec 9>>"$build/.lock"
  if ! flock -n 9; then
    echo "foretell: waits for another build of this checkout"
    flock 9
  fi

  local sources
  sources=$(ListSources)
  if [[ -x $build/foretell && -f $build/sources.txt &&
    $sources == "$(<"$build/sources.txt")" ]]; then
    exec 9>&-
    return
  fi

  InstallNeeds product foretell
  TouchOldChanges
  sources=$(ListSources)
  if [[ -f $build/sources.txt ]]; then
    echo "foretell: sources changed, builds again"
  else
    echo "foretell: builds itself, once: some minutes on two cores"
  fi
  : >"$log"
  # The lock must not outlive this script in something that the build starts.
  if ! RunBuild 2>&1 </dev/null 9>&- | ShowProgress 9>&- ||
    [[ ! -x $build/foretell ]]; then
    cat -- "$log"
    echo "foretell: the build failed; its messages are above and in $log"
    exit 3
  fi
  printf '%s\n' "$sources" >"$build/sources.new"
  mv -- "$build/sources.new" "$build/sources.txt"
  echo "foretell: built in $((SECONDS - began)) s"
  exec 9>&-
}
