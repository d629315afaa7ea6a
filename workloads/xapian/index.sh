#!/bin/sh
# index.sh PROGRAM full|abstracts DIRECTORY: indexes the Free On-line Dictionary of Computing, from
# Debian's package dict-foldoc. The figures in docs/accuracy.md are of version 20230119-1, another
# one is indexed as well, and named.
set -eu
known=20230119-1
version=$(dpkg-query -W -f '${Version}' dict-foldoc 2> /dev/null) || version=none
articles=/usr/share/dictd/foldoc.dict.dz
if ! test -r "$articles"; then
  echo "index.sh: $articles: not found; apt install dict-foldoc" >&2
  exit 1
fi
test "$version" = "$known" || echo "index.sh: dict-foldoc has version $version, expected $known" >&2
mkdir -p "$3"
gzip -dc < "$articles" | "$1" index "$2" "$3"
