"""Dictionaries, strings, JSON and objects over a text, again until so many lines are done.

objects.py FILE LINES
"""

import json
import re
import sys


class Word:
    """A word and where it stands."""

    __slots__ = ("text", "places")

    def __init__(self, text):
        self.text = text
        self.places = []


def index(lines):
    words = {}
    for number, line in enumerate(lines):
        for text in re.findall(r"[A-Za-z_]+", line.lower()):
            word = words.get(text)
            if word is None:
                word = words[text] = Word(text)
            word.places.append((number, line.find(text)))
    return words


def main():
    path, wanted = sys.argv[1], int(sys.argv[2])
    with open(path, encoding="utf-8") as file:
        text = file.read().splitlines()
    total = 0
    while wanted > 0:
        lines = text[:wanted]
        wanted -= len(lines)
        words = index(lines)
        ranked = sorted(words.values(), key=lambda word: (-len(word.places), word.text))
        form = json.dumps({word.text: word.places for word in ranked})
        back = json.loads(form)
        total += len(form) + sum(len(places) for places in back.values())
        total += len("".join(line[::-1].title() for line in lines))
    print(len(words), ranked[0].text, total)


main()
