"""Dictionaries, strings, JSON and objects over a text: objects.py FILE ROUNDS"""

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
    path, rounds = sys.argv[1], int(sys.argv[2])
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    total = 0
    for _ in range(rounds):
        words = index(lines)
        ranked = sorted(words.values(), key=lambda word: (-len(word.places), word.text))
        text = json.dumps({word.text: word.places for word in ranked})
        back = json.loads(text)
        total += len(text) + sum(len(places) for places in back.values())
        total += len("".join(line[::-1].title() for line in lines))
    print(len(words), ranked[0].text, total)


main()
