#!/usr/bin/env python3
"""The table of canned results, the page, and the commands of the rows."""
import subprocess
import sys
import tempfile
import unittest
from os import path

sys.path.insert(0, path.dirname(path.abspath(__file__)))
import compare
import measure
import table
from rows import PYTORCH, ROWS, RUNS, TENSORFLOW, Row, Run

RUN = Run(ours=("//a:b", []), peers=[("TPUEstimator", TENSORFLOW, "tf_a.py", []),
                                     ("Keras", TENSORFLOW, "tf_b.py", []),
                                     ("PyTorch", PYTORCH, "torch_a.py", [])], prepare=[])
SPEED = Row("speed", "MNIST: training", "mnist", "images_per_second", "images/s", False)
MEMORY = Row("memory", "MNIST: memory", "mnist", "peak_rss_mib", "MiB", True)


def lines(label, speeds, memories=()):
    memories = list(memories) + [None] * (len(speeds) - len(memories))
    return [{"run": "mnist", "label": label, "round": i, "images_per_second": speed,
             "peak_rss_mib": memory}
            for i, (speed, memory) in enumerate(zip(speeds, memories))]


CANNED = (lines("ours", [9000, 10000, 12000], [100, 120, 110]) +
          lines("TPUEstimator", [3000, 5000, 4000], [1100, 1100, 1100])
          + lines("Keras", [4400, 4500, 4600], [900]) +
          lines("PyTorch", [6000, 5000, 4000], [700]))


class TableTest(unittest.TestCase):
    def test_has_medians_ranges_and_ratios_to_the_best_script(self):
        row = table.table(CANNED, [SPEED], {"mnist": RUN}).splitlines()[2]
        self.assertEqual(row, "| MNIST: training | images/s | 10,000 (9,000 to 12,000) | 4,500 "
                              "(4,400 to 4,600), Keras | 5,000 (4,000 to 6,000) | 2.22 | 2.00 |")

    def test_a_ratio_above_one_is_better_for_memory_too(self):
        row = table.table(CANNED, [MEMORY], {"mnist": RUN}).splitlines()[2]
        self.assertEqual(row, "| MNIST: memory | MiB | 110 (100 to 120) | 900, Keras | 700 | 8.18 "
                              "| 6.36 |")

    def test_says_which_runs_failed_and_has_no_empty_cell(self):
        some = [line for line in CANNED if line["label"] != "PyTorch"]
        row = table.table(some, [SPEED], {"mnist": RUN}).splitlines()[2]
        self.assertIn("| failed | 2.22 | – |", row)
        self.assertEqual(table.missing(some, [SPEED], {"mnist": RUN}), ["speed: PyTorch"])
        self.assertEqual(table.missing(CANNED, [SPEED, MEMORY], {"mnist": RUN}), [])

    def test_a_row_without_a_peer_has_a_dash(self):
        run = RUN._replace(peers=RUN.peers[:2])
        self.assertTrue(table.table(CANNED, [SPEED], {"mnist": run}).endswith("| – | 2.22 | – |\n"))

    def test_numbers_have_the_digits_that_matter(self):
        self.assertEqual([table.number(x) for x in (13480.4, 63.25, 0.2814, 999.4)],
                         ["13,480", "63.2", "0.281", "999"])


class PageTest(unittest.TestCase):
    def test_replaces_what_is_between_the_markers_only(self):
        page = "# Title\n%s\nold\n%s\nafter\n" % (table.BEGIN, table.END)
        once = table.replace_figures(page, "new\n")
        self.assertEqual(once, "# Title\n%s\nnew\n%s\nafter\n" % (table.BEGIN, table.END))
        self.assertEqual(table.replace_figures(once, "new\n"), once)

    def test_refuses_a_page_without_markers(self):
        with self.assertRaisesRegex(ValueError, "must have the line"):
            table.replace_figures("# Title\n", "new")


class RowsTest(unittest.TestCase):
    def test_every_row_has_a_run_and_a_key_of_its_own(self):
        self.assertEqual(len({row.key for row in ROWS}), len(ROWS))
        for row in ROWS:
            self.assertIn(row.run, RUNS)
        self.assertEqual({row.run for row in ROWS}, set(RUNS))

    def test_scripts_exist_and_arguments_have_known_placeholders(self):
        values = dict.fromkeys(["seconds", "encoder_steps", "data_dir", "images", "work_dir",
                                "new_dir"], "x")
        here = path.dirname(path.abspath(__file__))
        for run in RUNS.values():
            commands = [run.ours[1]] + [peer[3] for peer in run.peers]
            for arguments in commands + [words for _, words in run.prepare]:
                for word in arguments:
                    word.format(**values)
            for _, _, script, _ in run.peers:
                self.assertTrue(path.exists(path.join(here, script)), script)

    def test_refuses_an_unknown_row(self):
        with self.assertRaisesRegex(SystemExit, "--rows has flying; known: mnist_1024_f32"):
            compare.chosen_rows("mnist_128_f32,flying")

    def test_two_rows_of_one_run_measure_it_once(self):
        self.assertEqual(compare.runs_of(compare.chosen_rows("mnist_1024_f32,mnist_memory")),
                         ["mnist_1024_f32"])


class CompareTest(unittest.TestCase):
    def compare(self, *arguments):
        script = path.join(path.dirname(path.abspath(__file__)), "compare.py")
        return subprocess.run([sys.executable, script, *arguments], capture_output=True, text=True)

    def test_lists_what_is_to_build(self):
        done = self.compare("--list_targets", "--rows=mnist_memory,jpeg_bilinear")
        self.assertEqual(done.stdout.split(),
                         ["//models/mnist:mnist_benchmark", "//tools/peers:input_benchmark"])

    def test_makes_a_table_of_results_and_fails_if_one_is_missing(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write('{"run": "encoder_f32", "label": "ours", "round": 1, "examples_per_second": '
                       '80}\n')
            file.flush()
            done = self.compare("--from_results=" + file.name, "--rows=encoder_f32")
            self.assertEqual(done.returncode, 1)
            self.assertIn("error: no figure of encoder_f32: Estimator", done.stderr)
            file.write('{"run": "encoder_f32", "label": "Estimator", "round": 1, '
                       '"examples_per_second": 50}\n')
            file.flush()
            done = self.compare("--from_results=" + file.name, "--rows=encoder_f32")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("| examples/s | 80 | 50, Estimator | – | 1.60 | – |", done.stdout)

    def test_writes_the_page_only_of_three_rounds(self):
        done = self.compare("--rows=encoder_f32", "--rounds=2", "--write_page")
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stderr, "error: --write_page needs --rounds=3 or more, because the "
                                      "page has medians with ranges; given 2\n")
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            for label, rounds in (("ours", 3), ("Estimator", 2)):
                for i in range(rounds):
                    file.write('{"run": "encoder_f32", "label": "%s", "round": %d, '
                               '"examples_per_second": 80}\n'
                               % (label, i + 1))
            file.flush()
            done = self.compare("--from_results=" + file.name, "--rows=encoder_f32", "--write_page")
            self.assertEqual(done.returncode, 1)
            self.assertIn("error: --write_page needs 3 rounds of each program; fewer have "
                          "encoder_f32: Estimator\n",
                          done.stderr)
            self.assertNotIn("ours", done.stderr)

    def test_needs_mnist_for_its_rows(self):
        done = self.compare("--rows=predict")
        self.assertEqual(done.returncode, 1)
        self.assertIn("--data_dir must be given for predict", done.stderr)


class MeterTest(unittest.TestCase):
    def test_leaves_the_warm_up_out(self):
        flags = measure.parser("", 8).parse_args(["--steps=3", "--warmup_steps=2"])
        meter = measure.Meter(flags)
        self.assertEqual([meter.step() for _ in range(5)], [False, False, False, False, True])
        self.assertEqual(meter.measured, 3)
        self.assertGreater(meter.per_second(8), 0)
        self.assertGreaterEqual(meter.first_step_seconds, 0)


if __name__ == "__main__":
    unittest.main()
