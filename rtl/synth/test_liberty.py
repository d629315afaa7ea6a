"""Tests of the Liberty reader: what it must understand and what it must refuse."""

import pathlib
import re
import tempfile
import unittest

import generic
import liberty


class Reading(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.build = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def read(self, text):
        path = self.build / "test.lib"
        path.write_text(text)
        return liberty.read(path, self.build)

    def refused(self, text, words):
        with self.assertRaisesRegex(liberty.LibertyError, words):
            self.read(text)

    def without(self, *names):
        """The generic library less some cells."""
        text = generic.library()
        for name in names:
            text, count = re.subn(rf"  cell \({name}\).*?\n  \}}\n", "", text, flags=re.S)
            self.assertEqual(count, 1)
        return text

    def test_the_generic_library_has_each_kind_of_cell_once_needed(self):
        library = self.read(generic.library())
        self.assertEqual(library.nand2_area(), 1.0)
        self.assertEqual(library.smallest("is_flop").name, "DFF")
        pins = {"enable": "G", "data": "D", "out": "Q"}
        self.assertEqual(library.smallest("is_latch").pins, pins)
        self.assertEqual(library.smallest("is_gate").pins["enable"], "E")
        self.assertEqual(library.buffer().name, "BUF")
        self.assertEqual(library.time_unit_ps, 1.0)

    def test_areas_are_transistors_over_four(self):
        library = self.read(generic.library())
        for name, _, _, transistors, *_ in generic.GATES:
            self.assertEqual(library.cells[name].area, transistors / 4)

    def test_a_library_without_flip_flops_is_refused(self):
        self.refused(self.without("DFF", "DFFR"), "no flip-flop among .* cells; .*add the file")

    def test_unknown_time_units_are_refused(self):
        self.refused(generic.library().replace('"1ps"', '"1fortnight"'), "time_unit = 1fortnight")
        self.refused(generic.library().replace('time_unit : "1ps";', ""), "time_unit = none")

    def test_a_library_without_a_nand_is_refused(self):
        self.refused(self.without("NAND2"), "no two-input NAND")

    def test_a_missing_path_is_refused_with_the_remedy(self):
        with self.assertRaisesRegex(liberty.LibertyError, "name a Liberty file or a folder"):
            liberty.read(self.build / "none", self.build)

    def test_a_larger_flip_flop_of_the_same_kind_is_not_used(self):
        text = generic.library()
        larger = generic.flop("DFFX4", 9.0, False)
        library = self.read(text[: text.rindex("}")] + larger + "}\n")
        self.assertEqual(library.larger_flops(), ["DFFX4"])


if __name__ == "__main__":
    unittest.main()
