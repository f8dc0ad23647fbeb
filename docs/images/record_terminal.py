#!/usr/bin/env python3
"""Runs a program in a terminal and draws what it printed as an SVG image.

A line that the program updates in place, such as the progress of a training, is animated. A viewer
without animations shows its last text.

Usage: docs/images/record_terminal.py OUT.svg SHOWN PROGRAM [ARGUMENT ...]
  SHOWN: the command line that the image shows above the output. "" if there is none to show.
docs/images/training.svg was made in the root of the repository by
  rm -rf /tmp/mnist
  docs/images/record_terminal.py docs/images/training.svg \
      './bazelw run //models/mnist:mnist_tpu -- --use_tpu=false --train_steps=200' \
      bazel-bin/models/mnist/mnist_tpu --use_tpu=false --train_steps=200 --model_dir=/tmp/mnist
"""

import fcntl
import html
import os
import pty
import struct
import subprocess
import sys
import termios

COLUMNS = 112
WIDTH, HEIGHT = 7.25, 17  # of a character of 12 px
MARGIN = 14
MOST_FRAMES = 24
FRAME_SECONDS = 0.5
ERASE_LINE = "\x1b[K"


def run(command):
    """Returns what the command prints in a terminal. Ends this program if it fails."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, COLUMNS, 0, 0))
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    printed = b""
    try:
        while block := os.read(ours, 1 << 16):
            printed += block
    except OSError:
        pass  # the end: Linux reports EIO once nobody writes to the terminal
    if process.wait() != 0:
        sys.exit(f"{printed.decode()}\nexit code {process.returncode}")
    return printed.decode()


def screen_lines(text):
    """Yields the lines of the screen: each is the list of the texts that it had, one by one."""
    for line in text.replace("\r\n", "\n").rstrip("\n").split("\n"):
        texts = [t.replace(ERASE_LINE, "").strip("\r") for t in line.split("\r" + ERASE_LINE)]
        texts = [t for t in texts if t] or [""]
        if len(texts) > 1:
            yield [t[:COLUMNS] for t in texts]
            continue
        for start in range(0, max(len(texts[0]), 1), COLUMNS):
            yield [texts[0][start:start + COLUMNS]]


def frames_of(texts):
    """At most MOST_FRAMES of the texts, at equal distances, with the first and the last."""
    if len(texts) <= MOST_FRAMES:
        return texts
    return [texts[i * (len(texts) - 1) // (MOST_FRAMES - 1)] for i in range(MOST_FRAMES)]


def draw(shown, lines):
    """Returns the image. `lines` are those of screen_lines."""
    if shown:
        lines = [["$ " + shown]] + lines
    animated = max([len(frames_of(texts)) for texts in lines])
    width, height = COLUMNS * WIDTH + 2 * MARGIN, len(lines) * HEIGHT + 2 * MARGIN
    svg = ['<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" '
           f'width="{width:g}" height="{height:g}">',
           "<style>",
           "text { font: 12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; "
           "fill: #d8dee9; white-space: pre; }",
           f"@keyframes frame {{ 0% {{ opacity: 1; }} {100 / animated:.3f}% {{ opacity: 0; }} }}",
           f".frame {{ opacity: 0; animation: frame {animated * FRAME_SECONDS:g}s step-end "
           "infinite; }",
           "@media (prefers-reduced-motion) { .frame { animation: none; } }",
           ".last { opacity: 1; }",
           ".command { fill: #a3be8c; }",
           "</style>",
           '<rect width="100%" height="100%" rx="8" fill="#1f2430"/>']
    for row, texts in enumerate(lines):
        frames = frames_of(texts)
        svg.append("<g>")
        for i, text in enumerate(frames):
            # textLength: the columns of a font of another width are these, too.
            position = (f'x="{MARGIN}" y="{MARGIN + (row + 0.75) * HEIGHT:g}" '
                        f'textLength="{len(text) * WIDTH:g}"')
            kind = ' class="command"' if row == 0 and shown else ""
            if len(frames) > 1:
                delay = (i - animated) * FRAME_SECONDS
                last = " last" if i == len(frames) - 1 else ""
                kind = f' class="frame{last}" style="animation-delay: {delay:g}s"'
            svg.append(f"<text {position}{kind}>{html.escape(text)}</text>" if text else "")
        svg.append("</g>")
    return "\n".join(line for line in svg if line) + "\n</svg>\n"


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    image = draw(sys.argv[2], list(screen_lines(run(sys.argv[3:]))))
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(image)
