#!/usr/bin/env python3
"""Checks what the shared library exports.

usage: exports_test.py libestimator.so version.h HEADER...
"""
import subprocess
import sys
import unittest

import exports

LIBRARY, VERSION, *HEADERS = sys.argv[1:]


def run(*command):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


class Names(unittest.TestCase):
    def test_path_of_a_function_a_member_and_a_table(self):
        self.assertEqual(exports.path_of("_ZN9estimator3tpu3FooC1Ev"), ["estimator", "tpu", "Foo"])
        self.assertEqual(exports.path_of("_ZNK9estimator6Tensor5shapeEv"),
                         ["estimator", "Tensor", "shape"])
        self.assertEqual(exports.path_of("_ZTVN9estimator6KernelE"), ["estimator", "Kernel"])
        self.assertEqual(exports.path_of("_ZSt4cout"), [])

    def test_a_name_is_public_if_a_header_has_it(self):
        words, namespaces = {"Foo"}, {"estimator", "tpu"}
        self.assertTrue(exports.is_public("_ZN9estimator3tpu3FooC1Ev", words, namespaces))
        self.assertTrue(exports.is_public("_ZN9estimatorlsERSoRKNS_3FooE", words, namespaces))
        self.assertFalse(exports.is_public("_ZN9estimator3tpu3BarC1Ev", words, namespaces))
        self.assertFalse(exports.is_public("_ZN9estimator6onednn3FooC1Ev", words, namespaces))
        self.assertFalse(exports.is_public("_ZN10tensorflow3FooC1Ev", words, namespaces))


class Library(unittest.TestCase):
    def test_soname_has_the_major_version(self):
        with open(VERSION, encoding="utf-8") as file:
            version = file.read().split('"')[1]
        self.assertIn(f"SONAME               libestimator.so.{version.split('.')[0]}\n",
                      run("objdump", "-p", LIBRARY))

    def test_exports_only_what_headers_name_or_the_main_archive_needs(self):
        words, namespaces = exports.words_of(HEADERS)
        lines = run("nm", "-DP", "--defined-only", LIBRARY).splitlines()
        names = [line.split()[0] for line in lines]
        private = [name for name in names if not exports.is_public(name, words, namespaces)]
        print(f"{len(names)} symbols, {len(private)} for libestimator_main.a:")
        print(run("c++filt", *private) if private else "")
        self.assertGreater(len(names), 1000)
        # The list is printed above. Each is used by a source of tools/install's ON_DEMAND.
        self.assertLess(len(private), 60)
        for name in private:
            self.assertIn(exports.path_of(name)[:1], [["estimator"]], name)

    def test_has_the_classes_of_a_program(self):
        names = run("nm", "-DC", "--defined-only", LIBRARY)
        for name in ("estimator::Graph::", "estimator::Estimator", "estimator::layers::Dense(",
                     "vtable for estimator::train::Momentum",
                     "estimator::tpu::CrossShardOptimizer::", "estimator::bert::",
                     "estimator::replay::Replay("):
            self.assertTrue(name in names, name)  # names are a megabyte of text


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
