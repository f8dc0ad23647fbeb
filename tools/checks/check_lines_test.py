#!/usr/bin/env python3
"""Tests of check_lines.py."""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import check_lines  # noqa: E402

LONG = "x" * 101


def found(path, text, exceptions=""):
    return list(check_lines.check_file(path, text, check_lines.Exceptions(exceptions)))


class CheckLinesTest(unittest.TestCase):
    def test_a_line_of_101_columns_is_named_with_its_number(self):
        self.assertEqual(found("a/b.py", f"{LONG[1:]}\n{LONG}\n"),
                         ["a/b.py:2: 101 columns (at most 100)"])

    def test_columns_are_characters_not_bytes(self):
        self.assertEqual(found("a/b.sh", "ä" * 100), [])

    def test_a_test_may_be_longer_than_other_files(self):
        lines = "\n" * 600
        self.assertEqual(found("a/b_test.cc", lines), [])
        self.assertIn("a/b.cc:1: 600 lines (at most 400)", found("a/b.cc", lines)[0])
        self.assertIn("601 lines (at most 600)", found("a/b_test.cc", lines + "\n")[0])

    def test_an_exception_is_for_its_files_and_its_kind_only(self):
        exceptions = "columns a/*.cc  # a reason\n"
        self.assertEqual(found("a/b.cc", LONG, exceptions), [])
        self.assertEqual(len(found("c/b.cc", LONG, exceptions)), 1)
        self.assertEqual(len(found("a/b.cc", "\n" * 500, exceptions)), 1)
        with self.assertRaises(SystemExit):
            check_lines.Exceptions("width a.cc")

    def test_the_tree_is_read_without_build_outputs_and_unused_exceptions_are_found(self):
        with tempfile.TemporaryDirectory() as root:
            for path in ("tools/a.cc", "tools/BUILD", "tools/a.txt", "tools/bazel-out/b.cc"):
                os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
                with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                    file.write(LONG)
            exceptions = check_lines.Exceptions("columns tools/BUILD\nlines tools/a.cc")
            self.assertEqual(list(check_lines.check_tree(root, exceptions)), [
                "tools/a.cc:1: 101 columns (at most 100)",
                "tools/checks/lines.txt: `lines tools/a.cc` is not needed any more: remove it"])


if __name__ == "__main__":
    unittest.main()
