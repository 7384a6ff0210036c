#!/usr/bin/env bash
# Start-up of the tools: the fastest and the median of 20, in ms.
cd "$(dirname "$0")/.."
for command in "tc-opt --version" "tc-opt test/demo/sincos.mlir" "tc-translate --version" "tc-run --version"; do
  for _ in $(seq 20); do
    start=$(date +%s%N)
    build/release/bin/$command >/dev/null || exit 1
    echo $((($(date +%s%N) - start) / 1000))
  done | sort -n | awk -v name="$command" '{t[NR] = $1} END {printf "%-32s fastest %.1f ms, median %.1f ms\n", name, t[1] / 1000, t[int((NR + 1) / 2)] / 1000}'
done
