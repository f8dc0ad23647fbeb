"""The table of docs/performance.md, from the lines of JSON of all runs."""
import statistics

from rows import PYTORCH, TENSORFLOW

OURS = "ours"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"


def number(value):
    """Four significant digits at most, with commas: 13,480, 63.2, 0.281."""
    if abs(value) >= 1000:
        return "{:,.0f}".format(value)
    return "%.3g" % value


def cell(values):
    """The median, and the least and the largest value if there are several."""
    median = number(statistics.median(values))
    if len(values) == 1:
        return median
    return "%s (%s to %s)" % (median, number(min(values)), number(max(values)))


def values_of(lines, row, label):
    """The numbers of a program in the order of the rounds. A run that has none, such as a failed
    one, is left out."""
    values = [line.get(row.metric) for line in lines if line["run"] == row.run
              and line["label"] == label]
    return [value for value in values if value is not None]


def best_peer(lines, row, run, column):
    """(name, values) of the script of this column with the best median; None if no script has a
    value."""
    candidates = []
    for name, of_column, _, _ in run.peers:
        values = values_of(lines, row, name) if of_column == column else []
        if values:
            candidates.append((statistics.median(values), name, values))
    if not candidates:
        return None
    best = min(candidates) if row.lower_is_better else max(candidates)
    return best[1], best[2]


def ratio(row, ours, theirs):
    """How many times ours is better: more per second, or less time or memory."""
    ours, theirs = statistics.median(ours), statistics.median(theirs)
    return theirs / ours if row.lower_is_better else ours / theirs


def with_few_rounds(lines, rows, runs, rounds):
    """The cells with figures of fewer rounds than `rounds`: ["mnist_128_f32: Keras"]."""
    result = []
    for row in rows:
        for label in [OURS] + [name for name, _, _, _ in runs[row.run].peers]:
            if len(values_of(lines, row, label)) < rounds:
                result.append("%s: %s" % (row.key, label))
    return result


def missing(lines, rows, runs):
    """What a whole table lacks: ["mnist_128_f32: Keras"]."""
    return with_few_rounds(lines, rows, runs, 1)


def table(lines, rows, runs):
    """A Markdown table. Cells without a program have a dash; cells whose runs all failed say so."""
    out = ["| work | unit | ours | TensorFlow | PyTorch | ours / TensorFlow | ours / PyTorch |",
           "|---|---|---|---|---|---|---|"]
    for row in rows:
        run = runs[row.run]
        ours = values_of(lines, row, OURS)
        cells, ratios = [cell(ours) if ours else "failed"], []
        for column in (TENSORFLOW, PYTORCH):
            best = best_peer(lines, row, run, column)
            if best is None:
                has_peer = any(of_column == column for _, of_column, _, _ in run.peers)
                cells.append("failed" if has_peer else "–")
                ratios.append("–")
                continue
            name, values = best
            cells.append(cell(values) + ("" if name == column else ", " + name))
            ratios.append("%.2f" % ratio(row, ours, values) if ours else "–")
        out.append("| %s |" % " | ".join([row.title, row.unit] + cells + ratios))
    return "\n".join(out) + "\n"


def replace_figures(page, figures):
    """The page with `figures` between its two markers. Raises ValueError if it does not have each
    marker once."""
    for marker in (BEGIN, END):
        if page.count(marker) != 1:
            raise ValueError("the page must have the line %s once, but has it %d times"
                             % (marker, page.count(marker)))
    before, rest = page.split(BEGIN)
    if END not in rest:
        raise ValueError("the line %s must come after %s" % (END, BEGIN))
    return "%s%s\n%s\n%s%s" % (before, BEGIN, figures.strip("\n"), END, rest.split(END)[1])
