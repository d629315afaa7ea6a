#!/bin/sh
# Real programs with the library preloaded, natively and under QEMU. Their output must be what it is
# without the library. A program that is not installed is skipped, and the output says so in a line
# that .ci/totals counts; with MALLACC_REQUIRE=tools in the environment that is a failure.
#
# usage: tests/programs.sh BUILD_DIR
set -u
build=$(cd "$1" && pwd)
lib=$build/libmallacc_guest.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpu=Haswell,-pcid,-x2apic,-tsc-deadline,-hle,-rtm,-invpcid
qemu=${MALLACC_QEMU:-qemu-x86_64}
failed=0

say() { printf '%s\n' "$*"; }
fail() {
  say "FAIL $*"
  failed=1
}
have() {
  command -v "$1" >/dev/null 2>&1 && return 0
  say "skipped: guest programs/$(echo "$2" | tr ' ' -): $1 is not installed"
  [ "${MALLACC_REQUIRE:-}" != tools ] || failed=1
  return 1
}

# compare NAME COMMAND...: the same output and exit code with the library as without.
compare() {
  name=$1
  shift
  "$@" >"$work/expected" 2>&1 </dev/null
  code=$?
  LD_PRELOAD=$lib "$@" >"$work/got" 2>&1 </dev/null
  got=$?
  if [ $code -ne 0 ]; then
    fail "$name does not run without the library: exit code $code"
  elif [ $got -ne 0 ] || ! cmp -s "$work/expected" "$work/got"; then
    fail "$name: exit code $got"
    diff "$work/expected" "$work/got" | head -5
  else
    say "ok   $name"
  fi
}

cat >"$work/t.pl" <<'P'
use strict;
my (%h, @words);
for my $i (1 .. 40000) { $h{"key" . $i % 7919} .= chr(97 + $i % 26); push @words, "w" x ($i % 97); }
my $n = 0;
for my $k (sort keys %h) { $n += length $h{$k}; $n++ if $h{$k} =~ /(ab|cd)+e?$/; }
print "$n ", scalar(@words), "\n";
P
cat >"$work/t.py" <<'P'
import collections, json, re, threading
d = collections.defaultdict(list)
for i in range(60000):
    d[i % 997].append(str(i) * (i % 5))
text = json.dumps(d)
print(len(text), len(re.findall(r"99+", text)), len(json.loads(text)))
out = []
def work(k):
    out.append(sum(len(bytes(j % 3000)) for j in range(20000)) + k)
threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
print(sum(out))
P
cat >"$work/t.sql" <<'P'
create table t(a integer primary key, b text, c real);
with recursive n(x) as (select 1 union all select x + 1 from n where x < 60000)
insert into t select x, hex(x * 7919 % 10007), x / 3.0 from n;
create index i on t(b);
select count(*), sum(length(b)), round(sum(c)) from t where b > '5';
select b, count(*) from t group by b order by 2 desc, 1 limit 3;
P
cat >"$work/t.cc" <<'P'
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <vector>
int main() {
  std::map<std::string, std::vector<int>> m;
  for (int i = 0; i < 1000; ++i) m[std::to_string(i % 37)].push_back(i);
  std::regex r("(a|b)*c");
  return std::regex_match("abababc", r) && m.size() == 37 ? 0 : 1;
}
P

have perl perl && compare "perl" perl "$work/t.pl"
have python3 python3 && compare "python3 with threads" env PYTHONHASHSEED=0 python3 "$work/t.py"
have sqlite3 sqlite3 && compare "sqlite3" sqlite3 :memory: ".read $work/t.sql"
if have g++ "gcc (cc1plus)"; then
  compare "gcc (cc1plus, to assembler)" g++ -O1 -S -o - "$work/t.cc"
  g++ -O1 -o "$work/t" "$work/t.cc" && compare "a C++ program with maps and regular expressions" "$work/t"
fi
have sort sort && compare "sort with threads" sh -c "seq 300000 | sort -R --random-source=$lib | sort -n --parallel=4 | tail -1"
have git git && compare "git" git --version
have xz xz && compare "xz with threads" sh -c "seq 200000 | xz -T2 -3 | xz -d | tail -1"

if have redis-server redis && have redis-cli redis; then
  sock=$work/redis.sock
  LD_PRELOAD=$lib redis-server --port 0 --unixsocket "$sock" --save '' --io-threads 2 \
    --dir "$work" >"$work/redis.log" 2>&1 &
  pid=$!
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -S "$sock" ] && break
    sleep 0.1
  done
  seq 20000 | sed 's/.*/SET key:& value-&-&-&-&/' | redis-cli -s "$sock" >/dev/null
  seq 1 2 20000 | sed 's/.*/DEL key:&/' | redis-cli -s "$sock" >/dev/null
  got=$(redis-cli -s "$sock" dbsize)/$(redis-cli -s "$sock" get key:4242)
  redis-cli -s "$sock" bgsave >/dev/null # forks
  for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    [ -f "$work/dump.rdb" ] && break
    sleep 0.2
  done
  redis-cli -s "$sock" shutdown nosave >/dev/null 2>&1
  wait $pid
  code=$?
  if [ "$got" = 10000/value-4242-4242-4242-4242 ] && [ $code -eq 0 ] && [ -f "$work/dump.rdb" ]; then
    say "ok   redis-server with a background save"
  else
    fail "redis-server: got $got, exit code $code"
    tail -5 "$work/redis.log"
  fi
fi

# The programs above must really have used the library: it counts nothing unless it is there.
if LD_PRELOAD=$lib MALLACC_SAMPLE_PARAMETER=1 LD_DEBUG=bindings perl -e 1 2>&1 |
  grep -q "binding file .*perl.* to .*libmallacc_guest.so .*malloc"; then
  say "ok   preloaded programs use the library's malloc"
elif have perl "the check of LD_PRELOAD"; then
  fail "perl's malloc is not the library's"
fi

if have "$qemu" "programs under QEMU"; then
  qemu() { "$qemu" -cpu $cpu -E LD_PRELOAD="$lib" "$@"; }
  for micro in tp tp_small sized_deletes gauss gauss_free antagonist; do
    native=$(LD_PRELOAD=$lib "$build/micro/$micro" --iterations 2000 --repeats 3)
    guest=$(qemu "$build/micro/$micro" --iterations 2000 --repeats 3)
    if [ -n "$native" ] && [ "$native" = "$guest" ]; then
      say "ok   $micro under QEMU"
    else
      fail "$micro under QEMU: $guest instead of $native"
    fi
  done
  for test in conformance size_classes; do
    if "$qemu" -cpu $cpu "$build/tests/$test" >"$work/got" 2>&1; then
      say "ok   the $test tests under QEMU"
    else
      fail "the $test tests under QEMU"
      grep -v '^ok' "$work/got"
    fi
  done
  # Not the one that forks: QEMU 7.2 itself aborts when a program with threads forks.
  for test in disturb 'any thread' producer destructors 'ends returns'; do
    if timeout 60 "$qemu" -cpu $cpu "$build/tests/threads" "$test" >"$work/got" 2>&1; then
      say "$(head -1 "$work/got"), under QEMU"
    else
      fail "threads under QEMU: $test"
      cat "$work/got"
    fi
  done
  if have perl "perl under QEMU"; then
    if [ "$(qemu "$(command -v perl)" "$work/t.pl")" = "$(perl "$work/t.pl")" ]; then
      say "ok   perl under QEMU"
    else
      fail "perl under QEMU"
    fi
  fi
fi
exit $failed
