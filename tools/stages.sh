# shellcheck shell=bash
# The stages of ./test, which sources this file, works in the tree's root and
# sets `build`, `preset` and the options. Each prints lines "PASS name",
# "FAIL name: why" (what follows, up to the next verdict, is its text, and
# "REPEAT command" says how to see it again) and "SKIP name: why".

jobs=$(nproc)

# Also where the checkout belongs to another user.
Git() { git -c safe.directory="$root" "$@"; }

Stage_checks() {
  local check status=0
  for check in include_table tree checks_test launcher_test stages_test; do
    tools/check/$check || status=1
  done
  return $status
}

Stage_format() {
  local -a files
  mapfile -t files < <(find src tests tools bench data -name '*.cc' -o \
    -name '*.h' | grep -v '^tests/golden/fixtures/' | LC_ALL=C sort)
  local report bad
  report=$(clang-format-16 --dry-run -Werror "${files[@]}" 2>&1) || true
  bad=$(sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error: .*/\1/p' <<<"$report" |
    sort -u)
  if [[ -n $report && -z $bad ]]; then
    printf 'FAIL format: %s\n' "$report"
  elif [[ -n $bad ]]; then
    while IFS= read -r file; do
      echo "FAIL format: $file differs from what clang-format-16 makes"
      diff -u --label "$file" --label clang-format -- "$file" \
        <(clang-format-16 -- "$file") | head -n 20 || true
      echo "REPEAT clang-format-16 -i $file"
    done <<<"$bad"
  else
    echo "PASS format: ${#files[@]} files"
  fi
}

# Builds targets of a preset under the lock that ./foretell takes, too.
BuildTargets() {
  local preset=$1 log
  shift
  mkdir -p -- "build/$preset"
  log=$(mktemp)
  if (
    flock 8
    cmake --preset "$preset" -DFORETELL_TESTS=ON &&
      cmake --build "build/$preset" --target "$@" -- -k 0
  ) 8>>"build/$preset/.lock" >"$log" 2>&1; then
    grep -E 'warning:' "$log" || true
    rm -- "$log"
    return
  fi
  # Ninja's lines about what went well say nothing.
  echo "FAIL build: preset $preset"
  grep -vE '^\[[0-9]+/[0-9]+\] (Building|Linking)|^-- ' "$log" || cat -- "$log"
  echo "REPEAT cmake --preset $preset && cmake --build build/$preset --target $*"
  rm -- "$log"
  return 1
}

HasDocgen() { compgen -G 'tools/docgen/*.cc' >/dev/null; }

Stage_build() {
  local -a targets=(foretell tests)
  if HasDocgen; then targets+=(docgen); fi
  BuildTargets "$preset" "${targets[@]}"
  echo "PASS build: preset $preset"
}

# Runs a program of GoogleTest and turns its output into verdicts. $2 names the
# program in them where it is not the first of its name.
RunGtest() {
  local program=$1 status=0 log
  log=$(mktemp)
  "./$program" --gtest_color=no >"$log" 2>&1 || status=$?
  awk -v program="$program" -v prefix="${2-}" -v status="$status" '
    function Case() { return prefix $4 }
    { sub(/\r$/, "") }
    /^\[ RUN      \] / { running = $4; held = 0; reason = ""; next }
    /^\[       OK \] / { print "PASS " Case(); ++seen; running = ""; next }
    /^\[  SKIPPED \] .* \([0-9]+ ms\)$/ {
      sub(/,$/, "", $4)
      print "SKIP " Case() ": " (reason == "" ? "says no reason" : reason)
      ++seen
      running = ""
      next
    }
    /^\[  FAILED  \] .* \([0-9]+ ms\)$/ {
      sub(/,$/, "", $4)
      print "FAIL " Case()
      for (i = 1; i <= held; ++i) print text[i]
      print "REPEAT " program " --gtest_filter=" $4
      ++failures
      running = ""
      next
    }
    running != "" {
      if (skip && $0 != "") reason = reason (reason == "" ? "" : " ") $0
      skip = /: Skipped$/ || (skip && $0 != "")
      text[++held] = $0
    }
    END {
      # A program that dies names no failure for the case that it died in.
      if (status != 0 && (failures == 0 || running != "")) {
        print "FAIL " prefix program ": ended with status " status \
              (running == "" ? "" : " in " running)
        for (i = 1; i <= held; ++i) print text[i]
        print "REPEAT " program \
              (running == "" ? "" : " --gtest_filter=" running)
      } else if (status == 0 && seen == 0) {
        print "FAIL " program ": holds no test"
      }
    }
  ' "$log"
  rm -- "$log"
}

# Runs programs of GoogleTest, as many at once as there are processors.
RunGtests() {
  local out i=0 program
  out=$(mktemp -d)
  for program; do
    i=$((i + 1))
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
    RunGtest "build/$preset/$program" >"$out/$(printf %03d $i)" &
  done
  wait
  cat -- "$out"/*
  rm -r -- "$out"
}

Stage_unit() {
  local -a programs
  mapfile -t programs < <(grep -v '^foretell_tests$' "$build/tests.txt")
  RunGtests "${programs[@]}"
}

Stage_tests() {
  grep -qx foretell_tests "$build/tests.txt" ||
    { echo "SKIP tests: tests/ holds no *_test.cc" && return; }
  RunGtests foretell_tests
}

Stage_golden() { tools/golden --program "$build/foretell"; }

Stage_readme() { tools/readme; }

Stage_docs() {
  if ! HasDocgen; then
    echo "SKIP docs: there is no tools/docgen"
    return
  fi
  local out file
  out=$(mktemp -d)
  "$build/docgen" "$out"
  local again="build/$preset/docgen docs"
  for file in $(cd -- "$out" && find . -type f | LC_ALL=C sort); do
    file=${file#./}
    if cmp -s -- "$out/$file" "docs/$file"; then
      echo "PASS docs/$file"
    else
      echo "FAIL docs/$file: is not what docgen makes"
      diff -u --label "docs/$file" --label docgen -- "docs/$file" "$out/$file" ||
        true
      echo "REPEAT $again"
    fi
  done
  # What it no longer makes, it knows itself.
  local left
  if ! left=$("$build/docgen" --check docs 2>&1) &&
    left=$(grep 'no longer made' <<<"$left"); then
    printf 'FAIL docs: a page is left over\n%s\n' "$left"
  fi
  rm -r -- "$out"
}

Stage_replay() {
  local name log
  [[ -s $build/fuzz.txt ]] ||
    { echo "SKIP replay: tests/fuzz/ holds no *_fuzz.cc" && return; }
  log=$(mktemp)
  while IFS= read -r name; do
    if timeout 300 "$build/${name}_fuzz" "tests/fuzz/corpus/$name" \
      >"$log" 2>&1; then
      echo "PASS replay $name: $(tail -n 1 "$log")"
    else
      echo "FAIL replay $name"
      tail -n 20 -- "$log"
      echo "REPEAT build/$preset/${name}_fuzz tests/fuzz/corpus/$name"
    fi
  done <"$build/fuzz.txt"
  rm -- "$log"
}

# One target, for $2 seconds. What it finds goes to build/fuzz/, not into the
# tree; a crash that is mended moves to tests/fuzz/corpus/ by hand.
FuzzTarget() {
  local name=$1 found="build/fuzz/found/$1" log
  local -a options=(-max_total_time="$2" -timeout=10 -rss_limit_mb=2560
    -max_len=65536 -artifact_prefix="build/fuzz/$1-")
  if [[ -f tests/fuzz/$name.dict ]]; then
    options+=(-dict="tests/fuzz/$name.dict")
  fi
  mkdir -p -- "$found"
  log=$(mktemp)
  if "build/fuzz/${name}_fuzz" "${options[@]}" "$found" \
    "tests/fuzz/corpus/$name" >"$log" 2>&1; then
    echo "PASS fuzz $name: $(grep -oE 'Done [0-9]+ runs in [0-9]+ second' "$log")s"
  else
    local crash
    crash=$(sed -n 's/.*Test unit written to //p' "$log" | tail -n 1)
    echo "FAIL fuzz $name"
    # From what went wrong on; where nothing says so, the last words.
    sed -n '/ERROR: \|runtime error: /,$p' "$log" | head -n 40 | grep . ||
      tail -n 40 -- "$log"
    echo "REPEAT build/fuzz/${name}_fuzz ${crash:-tests/fuzz/corpus/$name}"
  fi
  rm -- "$log"
}

Stage_fuzz() {
  # Stacks get their names from the assembler's own tools.
  export ASAN_OPTIONS UBSAN_OPTIONS=print_stacktrace=1
  ASAN_OPTIONS=external_symbolizer_path=$(type -P addr2line)
  local -a targets=(fuzz_targets) names
  cmake --preset fuzz -DFORETELL_TESTS=ON
  mapfile -t names <build/fuzz/fuzz.txt
  local readers=foretell_input_test
  if grep -qx $readers build/fuzz/tests.txt; then targets+=("$readers"); fi
  BuildTargets fuzz "${targets[@]}"
  echo "PASS build: preset fuzz"
  if [[ ${#targets[@]} == 2 ]]; then
    RunGtest build/fuzz/$readers "sanitized "
  else
    echo "SKIP sanitized readers: src/input/ holds no *_test.cc"
  fi
  if ((${#names[@]} == 0)); then
    echo "SKIP fuzz: tests/fuzz/ holds no *_fuzz.cc"
    return
  fi

  local seconds name out
  out=$(mktemp -d)
  seconds=$((fuzz_seconds * jobs / ${#names[@]}))
  if ((seconds == 0)); then seconds=1; fi
  if ((seconds > fuzz_seconds)); then seconds=$fuzz_seconds; fi
  for name in "${names[@]}"; do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
    FuzzTarget "$name" "$seconds" >"$out/$name" &
  done
  wait
  cat -- "$out"/*
  rm -r -- "$out"
}

# Files to look at: those that differ from where the branch left main, or from
# the commit before where this is main; a header stands for the file beside it.
TidyFiles() {
  local base
  if [[ $tidy_all == yes ]]; then
    find src tests tools bench -name '*.cc'
    return
  fi
  base=$(Git merge-base HEAD origin/main 2>/dev/null ||
    Git merge-base HEAD main 2>/dev/null) || base=
  if [[ -z $base || $base == "$(Git rev-parse HEAD 2>/dev/null)" ]]; then
    base=$(Git rev-parse --verify -q HEAD~) || return 1
  fi
  { Git diff --name-only "$base" -- && Git ls-files -o --exclude-standard; } |
    sed -n -e '/\.cc$/p' -e 's/\.h$/.cc/p' | LC_ALL=C sort -u |
    while IFS= read -r file; do
      if [[ -f $file ]]; then echo "$file"; fi
    done
}

Stage_tidy() {
  local list out file started=$SECONDS
  local -a files left=()
  if ! list=$(TidyFiles); then
    echo "SKIP tidy: no earlier commit to compare with (--tidy-all looks at" \
      "every file)"
    return
  fi
  cmake --preset fuzz -DFORETELL_TESTS=ON >/dev/null
  mapfile -t files < <(while IFS= read -r file; do
    if grep -qF "\"$root/$file\"" build/fuzz/compile_commands.json; then
      echo "$file"
    fi
  done <<<"$list")
  if ((${#files[@]} == 0)); then
    echo "PASS tidy: no file differs"
    return
  fi
  out=$(mktemp -d)
  for file in "${files[@]}"; do
    while (($(jobs -rp | wc -l) >= jobs)); do wait -n || true; done
    if ((SECONDS - started >= tidy_seconds)); then
      left+=("$file")
    else
      TidyFile "$file" >"$out/${file//\//:}" &
    fi
  done
  wait
  cat -- "$out"/*
  rm -r -- "$out"
  if ((${#left[@]})); then
    echo "SKIP tidy: ${#left[@]} files not reached in $tidy_seconds s" \
      "(--tidy-seconds): ${left[*]}"
  fi
}

TidyFile() {
  local report
  if report=$(clang-tidy-16 -p build/fuzz --quiet "$1" 2>/dev/null); then
    echo "PASS tidy $1"
  else
    echo "FAIL tidy $1"
    printf '%s\n' "$report"
    echo "REPEAT clang-tidy-16 -p build/fuzz $1"
  fi
}

Stage_bench() {
  local name log
  if [[ ! -s $build/bench.txt ]]; then
    echo "SKIP bench: bench/ holds no *_bench.cc"
    return
  fi
  BuildTargets "$preset" bench
  echo "PASS build: bench"
  log=$(mktemp)
  while IFS= read -r name; do
    if timeout 120 "$build/$name" --benchmark_min_time=0.01 >"$log" 2>&1; then
      echo "PASS bench $name"
    else
      echo "FAIL bench $name"
      tail -n 20 -- "$log"
      echo "REPEAT build/$preset/$name --benchmark_min_time=0.01"
    fi
  done <"$build/bench.txt"
  rm -- "$log"
}
