"""Tests of the Liberty reader: what it must understand and what it must refuse."""

import pathlib
import re
import tempfile
import unittest

import generic
import liberty


class Reading(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.build = pathlib.Path(self.folder.name)

    def tearDown(self) -> None:
        self.folder.cleanup()

    def read(self, text: str) -> liberty.Library:
        path = self.build / "test.lib"
        path.write_text(text)
        return liberty.read(path, self.build)

    def refused(self, text: str, words: str) -> None:
        with self.assertRaisesRegex(liberty.LibertyError, words):
            self.read(text)

    def smallest(self, library: liberty.Library, what: liberty.Kind) -> liberty.Cell:
        """The smallest cell of a kind, which the library must have."""
        cell = library.smallest(what)
        assert cell is not None, what
        return cell

    def without(self, *names: str) -> str:
        """The generic library without some of its cells."""
        text = generic.library()
        for name in names:
            text, count = re.subn(rf"  cell \({name}\).*?\n  \}}\n", "", text, flags=re.S)
            self.assertEqual(count, 1)
        return text

    def test_the_generic_library_has_each_kind_of_cell_that_is_needed(self) -> None:
        library = self.read(generic.library())
        self.assertEqual(library.nand2_area(), 1.0)
        self.assertEqual(self.smallest(library, "is_flop").name, "DFF")
        pins = {"enable": "G", "data": "D", "out": "Q"}
        self.assertEqual(self.smallest(library, "is_latch").pins, pins)
        self.assertEqual(self.smallest(library, "is_gate").pins["enable"], "E")
        self.assertEqual(library.buffer().name, "BUF")
        self.assertEqual(library.time_unit_ps, 1.0)

    def test_areas_are_transistors_over_four(self) -> None:
        library = self.read(generic.library())
        for name, _, _, transistors, *_ in generic.GATES:
            self.assertEqual(library.cells[name].area, transistors / 4)

    def test_a_library_without_flip_flops_is_refused(self) -> None:
        self.refused(self.without("DFF", "DFFR"), "no flip-flop among .* cells; .*add the file")

    def test_unknown_time_units_are_refused(self) -> None:
        self.refused(generic.library().replace('"1ps"', '"1fortnight"'), "time_unit = 1fortnight")
        self.refused(generic.library().replace('time_unit : "1ps";', ""), "time_unit = none")

    def test_a_library_without_a_nand_is_refused(self) -> None:
        self.refused(self.without("NAND2"), "no two-input NAND")

    def test_a_missing_path_is_refused_with_the_remedy(self) -> None:
        with self.assertRaisesRegex(liberty.LibertyError, "name a Liberty file or a folder"):
            liberty.read(self.build / "none", self.build)

    def test_a_larger_flip_flop_of_the_same_kind_is_not_used(self) -> None:
        text = generic.library()
        larger = generic.flop("DFFX4", 9.0, False)
        library = self.read(text[: text.rindex("}")] + larger + "}\n")
        self.assertEqual(library.larger_flops(), ["DFFX4"])


if __name__ == "__main__":
    unittest.main()
