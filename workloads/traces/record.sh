#!/bin/sh
# Allocation traces of the programs of the SMA study (docs/sma-study.md): record.sh MALLACC DIR
# Writes DIR/NAME.amt; programs that are not installed are left out and named. Inputs are made
# here, always the same, and so are environment and file names: both show in what is allocated.
set -eu
mallacc=$(cd "$(dirname "$1")" && pwd)/$(basename "$1") out=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$root"/workloads/text/prose.txt "$root"/workloads/cc1/*.[ch] \
  "$root"/workloads/traces/md5sums.py "$work"
cd "$work"
text=prose.txt
# Python's own allocator is switched off: the study is about requests.
clean="env -i PATH=/usr/bin:/bin:/usr/local/bin HOME=. LC_ALL=C SOURCE_DATE_EPOCH=0
  OMP_NUM_THREADS=1 MAGICK_THREAD_LIMIT=1 PYTHONHASHSEED=0 PYTHONMALLOC=malloc"
[ -z "${MALLACC_RECORDER-}" ] || clean="$clean MALLACC_RECORDER=$MALLACC_RECORDER"

record() { # name, program, arguments
  name=$1
  shift
  if ! command -v "$1" >/dev/null; then
    echo "$name: left out, $1 is not installed (make setup-study)"
    return 0
  fi
  # shellcheck disable=SC2086
  if $clean "$mallacc" record-mallocs -o "$out/$name.amt" -- "$@" >"$name.log" 2>&1; then
    sed -n 's/^mallacc: .*amt: //p' "$name.log" | sed "s/^/$name: /"
  else
    echo "$name: failed" >&2
    cat "$name.log" >&2
    rm -f "$out/$name.amt"
    return 1
  fi
}

# Conversion of 15 kB of text to PostScript.
head -c 15000 "$text" >text.txt
record a2p a2ps -q -o a2p.ps text.txt

# The compiler proper, over the units of the workload.
record gcc "$(gcc -print-prog-name=cc1)" -quiet -O2 units.c -o gcc.s

# Rendering of PostScript: 150 kB of text as a2ps sets it.
if command -v a2ps >/dev/null; then
  head -c 150000 "$text" >long.txt
  $clean a2ps -q -o long.ps long.txt
  record gst gs -q -dNOPAUSE -dBATCH -sDEVICE=pgmraw -r50 -sOutputFile=/dev/null long.ps
else
  echo 'gst: left out, its input is made by a2ps, which is not installed (make setup-study)'
fi

# The charcoal filter over a picture. Debian's program, whatever else is called so.
if [ -x /usr/bin/convert ]; then
  $clean /usr/bin/convert -seed 1 -size 512x384 plasma:fractal picture.jpg
  record cvt /usr/bin/convert picture.jpg -charcoal 2 cvt.jpg
else
  echo 'cvt: left out, imagemagick is not installed (make setup-study)'
fi

# Twenty seconds of a rising tone with a little noise, as a 16-bit WAV file.
/usr/bin/env python3 - <<'PY'
import math, struct, wave
state, samples = 1, []
for i in range(20 * 22050):
    state = (state * 1103515245 + 12345) % (1 << 31)
    tone = 9000 * math.sin(i * (0.02 + i * 1e-7))
    samples.append(int(tone + state / (1 << 31) * 800))
with wave.open("tone.wav", "wb") as file:
    file.setparams((1, 2, 22050, 0, "NONE", ""))
    file.writeframes(struct.pack("<%dh" % len(samples), *samples))
PY
record ogg oggenc -Q -s 1 -o ogg.ogg tone.wav

# MD5 sums of many strings.
python=/usr/bin/python3
[ -x $python ] || python=$(command -v python3)
record pyt $python md5sums.py

# Archive and compression of 27 files in 4 folders.
for folder in one two three four; do
  mkdir -p "tree/$folder"
  for file in 1 2 3 4 5 6 7; do
    [ "$folder$file" = four7 ] || head -c $((file * 9000)) "$text" >"tree/$folder/$file.txt"
  done
done
record tar tar czf tar.tgz tree
