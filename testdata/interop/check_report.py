#!/usr/bin/env python3
"""The page of tools/report in headless Chromium: it has every part, draws every chart, and writes
nothing to the console; names from a hostile run stay text; --serve shows a run that goes on.

Usage: check_report.py REPORT MNIST     (built from //tools/report:report and //models/mnist:mnist)
Needs Chromium: apt-get install chromium.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

PARTS = ("runs", "curves", "rate", "throughput", "time", "hyperparameters", "comparison",
         "confusion-matrix", "roc", "worst-examples", "best-examples", "weights")
HOSTILE = "</script><img src=x onerror=alert(1)><script>alert(2)</script>"


def chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return name
    sys.exit("needs Chromium: apt-get install chromium")


def browse(url, folder):
    """The DOM after the scripts, and the lines of the console."""
    run = subprocess.run(
        [chromium(), "--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr",
         "--v=0", "--window-size=1300,2400", f"--user-data-dir={folder}/profile",
         f"--screenshot={folder}/page.png", "--virtual-time-budget=8000", "--dump-dom", url],
        capture_output=True, text=True, timeout=120, check=False)
    console = [line for line in run.stderr.splitlines() if "CONSOLE" in line]
    return run.stdout, console


def section(dom, name):
    match = re.search(r'<section id="%s">(.*?)</section>' % name, dom, re.S)
    assert match, f"no section {name}"
    return match.group(1)


def check_page(report, dirs, folder, name):
    page = folder / f"{name}.html"
    subprocess.run([report, *map(str, dirs), f"--output={page}"], check=True, capture_output=True)
    size = page.stat().st_size
    assert size < 2_000_000, size
    dom, console = browse(page.as_uri(), folder)
    shutil.copy(folder / "page.png", folder / f"{name}.png")
    assert not console, console
    assert 'data-ready="1"' in dom, dom[:500]
    assert 'class="problem"' not in dom, "a part cannot be shown"
    print(f"{name}: {size} bytes, no line in the console")
    return dom


def train(mnist, folder, name, *flags):
    run = folder / name
    subprocess.run([mnist, f"--model_dir={run}", "--record_run", "--train_steps=100",
                    "--batch_size=128", "--save_summary_steps=10", "--log_step_count_steps=10",
                    *flags], check=True, capture_output=True)
    return run


def check_mnist(report, mnist, folder):
    first, second = train(mnist, folder, "a"), train(mnist, folder, "b", "--learning_rate=0.02")
    dom = check_page(report, [first], folder, "one")
    for part in PARTS:
        text = section(dom, part)
        assert "No run here" not in text, part
    # loss of both kinds, accuracy; the rate; steps and examples each second; time; ROC and PR
    for part, charts in (("curves", 2), ("rate", 1), ("throughput", 2), ("time", 1), ("roc", 2)):
        assert section(dom, part).count("<canvas") >= charts, part
    assert section(dom, "worst-examples").count("data:image/png;base64,") == 24
    assert section(dom, "best-examples").count("data:image/png;base64,") == 24
    assert "[incorrect, should be " in section(dom, "worst-examples")
    assert section(dom, "weights").count("<svg") == 8
    areas = re.findall(r"<tr><td>\d</td><td>(0\.\d+|1\.0+)</td>", section(dom, "roc"))
    assert len(areas) == 10 and all(float(area) > 0.8 for area in areas), areas
    check_areas(first, areas)
    cells = re.findall(r"<td[^>]*>(\d+)</td>", section(dom, "confusion-matrix"))
    assert sum(map(int, cells)) - sum(range(10)) == 10000, "the matrix has every test image"
    dom = check_page(report, [first, second], folder, "two")
    assert 'class="differs"' in section(dom, "hyperparameters")
    assert "Comparison" in section(dom, "comparison")
    assert section(dom, "worst-examples").count("data:image/png;base64,") == 48
    return first


def check_areas(run, areas):
    """The areas under the ROC of the page, which has four digits of a score, against exact ones."""
    lines = [json.loads(line) for line in (run / "examples.jsonl").read_text().splitlines()[1:]]
    for digit, area in enumerate(areas):
        positives = negatives = pairs = 0
        for line in sorted(lines, key=lambda one, digit=digit: one["scores"][digit]):
            if line["label"][0] == digit:
                positives += 1
                pairs += negatives  # those with a smaller score
            else:
                negatives += 1
        exact = pairs / (positives * negatives)
        assert abs(exact - float(area)) < 1e-3, (digit, exact, area)


def check_hostile(report, folder):
    run = folder / "hostile"
    run.mkdir()
    (run / "history.jsonl").write_text(
        json.dumps({"epoch": 0, "step": 5, HOSTILE: 0.5, "val_" + HOSTILE: 1, "lr": None,
                    "seconds": 1}) + "\n")
    (run / "run.jsonl").write_text(json.dumps({"step": 0, "flags": {HOSTILE: HOSTILE}}) + "\n")
    (run / "examples.jsonl").write_text("\n".join([
        json.dumps({"classes": [HOSTILE, "b"], "multi_label": True, "checkpoint": HOSTILE}),
        json.dumps({"label": [1, 0], "scores": [0.5, None], "title": HOSTILE, "sure": 0,
                    "png": '"><script>alert(3)</script>'}),
        json.dumps({"label": "x", "scores": {}, "title": 5}), ""]))
    page = folder / "hostile.html"
    subprocess.run([report, str(run), f"--output={page}"], check=True, capture_output=True)
    dom, console = browse(page.as_uri(), folder)
    # The picture is no PNG file, which Chromium does not report. Nothing else may happen.
    assert not [line for line in console if "alert" in line or "Content Security" in line], console
    body = dom[dom.index("<main"):dom.index("</main>")]
    assert "<script" not in body and "<img src=\"x\"" not in body, "text of a run became markup"
    assert "&lt;/script&gt;" in body
    print("hostile: names stay text")


def check_serve(report, run, folder):
    copy = folder / "live"
    shutil.copytree(run, copy)
    server = subprocess.Popen([report, str(copy), "--serve", "--port=0"], stdout=subprocess.PIPE,
                              text=True)
    try:
        url = server.stdout.readline().split()[0]
        (copy / "history.jsonl").write_text(
            '{"epoch":0,"step":100,"live_metric":1,"seconds":1}\n')
        dom, console = browse(url, folder)
        assert not console, console
        ready = int(re.search(r'data-ready="(\d+)"', dom).group(1))
        assert ready >= 2, f"drawn {ready} times"
        assert 'aria-label="live_metric"' in dom or "live_metric" in section(dom, "comparison")
        print(f"serve: drawn {ready} times")
    finally:
        server.send_signal(2)
        assert server.wait(timeout=20) == 0


def main():
    report, mnist = map(os.path.abspath, sys.argv[1:3])
    keep = os.environ.get("REPORT_FOLDER")
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(keep or temporary)
        begin = time.time()
        run = check_mnist(report, mnist, folder)
        check_hostile(report, folder)
        check_serve(report, run, folder)
        print(f"all checks of the page passed in {time.time() - begin:.0f} s")


if __name__ == "__main__":
    main()
