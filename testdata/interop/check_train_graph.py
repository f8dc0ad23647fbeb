#!/usr/bin/env python3
"""Training graphs: tools/train_graph continues folders that TensorFlow's Estimator wrote, as
TensorFlow does, and TensorFlow continues from ours.

Usage: check_train_graph.py TRAIN_GRAPH [CASE ...]     (built from //tools/train_graph:train_graph)
Needs tensorflow-cpu 2.15.1; tools/verify_interop.sh installs it and runs this.

For each case of testdata/train_graph/cases.py, TensorFlow trains 25 steps in one session. We train
steps 6 to 25 from its checkpoint of step 5, with the same batches: losses within 1e-5, variables
and slots within 1e-4. Then TensorFlow trains 5 steps from its own checkpoint of step 25 and from
ours: losses within 1e-4, because they begin 1e-4 apart. The last lines are a table of the largest
differences.

The case `saved` begins with a SavedModel of step 5 with the graphs train, eval and serve. We train
10 steps from it, and evaluate with the metrics of its graph, as TensorFlow does: losses, metrics
and variables are compared, and the evaluation of our checkpoint by TensorFlow. The case passes only
if a SavedModel without training is refused.
"""

import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "train_graph"))
import cases  # noqa: E402
import numpy as np  # noqa: E402
from cases import AFTER, CONTINUED, START, tf1  # noqa: E402
from saved_case import SavedCase  # noqa: E402

LOSS, VARIABLE, LOSS_AFTER = 1e-5, 1e-4, 1e-4
END = START + CONTINUED


def difference(ours, theirs):
    """The largest difference, relative to the largest value if that is above 1."""
    ours, theirs = np.asarray(ours, np.float64), np.asarray(theirs, np.float64)
    if ours.shape != theirs.shape:
        raise AssertionError(f"shapes {ours.shape} and {theirs.shape}")
    if not ours.size:
        return 0.0
    if not np.isfinite(ours).all():
        raise AssertionError("our values are not finite")
    return float(np.max(np.abs(ours - theirs)) / max(1.0, np.max(np.abs(theirs))))


def our_losses(folder, count=CONTINUED):
    """The summaries of the loss that our run wrote, in the order of the steps."""
    losses = {}
    for path in glob.glob(os.path.join(folder, "events.out.tfevents.*")):
        for event in tf1.train.summary_iterator(path):
            for value in event.summary.value:
                if value.tag in ("loss", "loss_1"):
                    losses[event.step] = value.simple_value
    if len(losses) != count:
        raise AssertionError(f"our run wrote the loss at the steps {sorted(losses)}, which are not "
                             f"{count}")
    return [losses[step] for step in sorted(losses)]


def train_ours(program, case, folder, inputs):
    files = []
    for i, array in enumerate(case.rows_of_steps(START, CONTINUED)):
        files.append(os.path.join(inputs, f"{case.name}_{i}.npy"))
        np.save(files[-1], array)
    done = subprocess.run([program, f"--model_dir={folder}", f"--input=npy:{','.join(files)}",
                           f"--steps={CONTINUED}", f"--batch_size={case.rows}", "--shuffle=0",
                           "--save_summary_steps=1", "--log_step_count_steps=0"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr.strip()[-3000:]}")


def compare_variables(case, ours, theirs):
    ours, theirs = (tf1.train.NewCheckpointReader(prefix) for prefix in (ours, theirs))
    names = sorted(theirs.get_variable_to_shape_map())
    if sorted(ours.get_variable_to_shape_map()) != names:
        raise AssertionError(f"our checkpoint has {sorted(ours.get_variable_to_shape_map())}, "
                             f"TensorFlow's {names}")
    worst = (0.0, "")
    for name in names:
        if any(part in name for part in case.without):
            continue
        if ours.get_variable_to_dtype_map()[name] != theirs.get_variable_to_dtype_map()[name]:
            raise AssertionError(f"{name} has another dtype")
        worst = max(worst, (difference(ours.get_tensor(name), theirs.get_tensor(name)), name))
    return worst


def check(program, case, work):
    """Returns (differences of losses, of variables, of TensorFlow's losses after us, the worst
    variable)."""
    whole, ours, after = (os.path.join(work, f"{case.name}_{part}")
                          for part in ("whole", "ours", "after"))
    theirs = case.train(whole, 0, END)[START:]
    cases.copy_checkpoint(whole, START, ours)
    train_ours(program, case, ours, work)
    losses = difference(our_losses(ours), theirs)
    variables, worst = compare_variables(case, os.path.join(ours, f"model.ckpt-{END}"),
                                         os.path.join(whole, f"model.ckpt-{END}"))
    cases.copy_checkpoint(ours, END, after)
    later = difference(case.train(after, END, END + AFTER), case.train(whole, END, END + AFTER))
    return losses, variables, later, worst


def run_ours(program, *flags):
    done = subprocess.run([program, *flags, "--log_step_count_steps=0"], capture_output=True,
                          text=True)
    if done.returncode != 0:
        raise AssertionError(f"exit code {done.returncode}: {done.stderr.strip()[-3000:]}")
    return done.stdout


def metric_difference(ours, theirs):
    if sorted(ours) != sorted(theirs):
        raise AssertionError(f"our metrics are {sorted(ours)}, TensorFlow's {sorted(theirs)}")
    return difference([ours[key] for key in sorted(ours)], [theirs[key] for key in sorted(ours)])


def check_saved(program, case, work):
    """As check(); the third difference is that of metrics: ours, and TensorFlow's of our
    checkpoint."""
    whole, saved, ours, serve = (os.path.join(work, part)
                                 for part in ("whole", "saved", "saved_ours", "saved_serve"))
    end = START + cases.SAVED_CONTINUED
    theirs = case.train(whole, end)[START:]
    case.export(whole, START, saved)
    case.export(whole, START, serve, modes=("infer",))
    files = [os.path.join(work, f"saved_{i}.npy") for i in range(2)]
    for path, array in zip(files, (case.x, case.labels)):
        np.save(path, array)
    data = [f"--input=npy:{','.join(files)}", f"--batch_size={case.rows}"]
    refused = subprocess.run([program, f"--saved_model={serve}", f"--model_dir={ours}", "--steps=1",
                              *data],
                             capture_output=True, text=True)
    if refused.returncode == 0 or "{serve}" not in refused.stderr or os.path.exists(ours):
        raise AssertionError(f"a SavedModel without training was not refused: "
                             f"{refused.stderr.strip()[-3000:]}")
    run_ours(program, f"--saved_model={saved}", f"--model_dir={ours}",
             f"--steps={cases.SAVED_CONTINUED}", "--shuffle=0",
             "--save_summary_steps=1", *data)
    losses = difference(our_losses(ours, cases.SAVED_CONTINUED), theirs)
    expected = case.evaluate(whole, end)
    printed = run_ours(program, f"--model_dir={ours}", "--mode=eval",
                       *data).strip().splitlines()[-1]
    actual = {key: float(value) for key,
              value in (part.split(" = ") for part in printed.split(", "))}
    variables, worst = compare_variables(NothingLeftOut, os.path.join(ours, f"model.ckpt-{end}"),
                                         os.path.join(whole, f"model.ckpt-{end}"))
    metrics = max(metric_difference(actual, expected),
                  metric_difference(case.evaluate(ours, end), expected))
    return losses, variables, metrics, worst


class NothingLeftOut:
    without = ()


def main():
    program, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    rows, failed = [], 0
    with tempfile.TemporaryDirectory() as work:
        for case in [*cases.cases(), SavedCase()]:
            if names and case.name not in names:
                continue
            try:
                checked = check_saved if isinstance(case, SavedCase) else check
                losses, variables, later, worst = checked(program, case, work)
                good = losses <= LOSS and variables <= VARIABLE and later <= LOSS_AFTER
                rows.append((case.name, f"{losses:.1e}", f"{variables:.1e}", f"{later:.1e}",
                             "passed" if good else "FAILED", worst))
            except AssertionError as error:
                good = False
                rows.append((case.name, "", "", "", "FAILED", ""))
                print(f"{case.name}: {error}", flush=True)
            failed += not good
            print(f"{rows[-1][4]}: {case.name} {' '.join(rows[-1][1:4])}", flush=True)
    head = ("case", "losses", "variables", "losses after", "", "the variable that differs most")
    for row in [head, *rows]:
        print("{:<24} {:>8} {:>10} {:>13}  {:<7} {}".format(*row))
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
