"""MD5 sums of strings, of files' worth of data and of themselves, with a table of the results."""

import hashlib


def text(seed, length):
    state, out = seed, []
    while len(out) < length:
        state = (state * 1103515245 + 12345) % (1 << 31)
        out.append(chr(97 + state % 26))
    return "".join(out)


table = {}
for number in range(400):
    word = text(number, 3 + number % 60)
    digest = hashlib.md5(word.encode()).hexdigest()
    table[digest] = word
    for _ in range(4):
        digest = hashlib.md5(digest.encode()).hexdigest()
lines = sorted("%s  %s" % item for item in table.items())
print(hashlib.md5("\n".join(lines).encode()).hexdigest())
