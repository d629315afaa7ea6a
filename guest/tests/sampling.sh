#!/bin/sh
# The sampler: off unless asked for, near the stated rate, and the same in every run.
#
# usage: tests/sampling.sh BUILD_DIR
set -u
probe=$1/tests/sampler_probe
failed=0
check() {
  if [ "$2" = "$3" ]; then echo "ok   $1"; else
    echo "FAIL $1: $2 instead of $3"
    failed=1
  fi
}
check "without the parameter no sample is taken" "$("$probe")" "0 samples"
check "a parameter of 0 means the same" "$(MALLACC_SAMPLE_PARAMETER=0 "$probe")" "0 samples"
check "samples come at the stated rate" \
  "$(MALLACC_SAMPLE_PARAMETER=524288 "$probe" rate)" "near"
check "and at another" "$(MALLACC_SAMPLE_PARAMETER=4096 "$probe" rate)" "near"
first=$(MALLACC_SAMPLE_PARAMETER=10000 "$probe")
check "two runs take the same samples" "$(MALLACC_SAMPLE_PARAMETER=10000 "$probe")" "$first"
exit $failed
