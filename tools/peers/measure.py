"""What the peers' scripts share: flags, the clock of the steady state, memory, and one line of
JSON.

It imports nothing but the standard library, so that the seconds from process start include every
import.
"""
import argparse
import json
import os
import resource
import time


def seconds_since_process_start():
    """Seconds since the process was started. The resolution is 10 ms."""
    with open("/proc/self/stat") as stat:
        start = int(stat.read().rsplit(")", 1)[1].split()[19])
    return time.clock_gettime(time.CLOCK_BOOTTIME) - start / os.sysconf("SC_CLK_TCK")


def peak_rss_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def parser(description, batch_size):
    """The flags of every script. They have the names and meanings of our benchmarks' flags."""
    flags = argparse.ArgumentParser(description=description)
    flags.add_argument("--batch_size", type=int, default=batch_size)
    flags.add_argument("--steps", type=int, default=100, help="steps that are measured")
    flags.add_argument("--seconds", type=float, default=0,
                       help="stop after so many measured seconds; 0: no limit")
    flags.add_argument("--warmup_steps", type=int, default=5,
                       help="steps before those that are measured")
    flags.add_argument("--compute_dtype", choices=["float32", "bfloat16"], default="float32")
    flags.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    return flags


class Meter:
    """Counts the steps of the steady state. Call step() after each step; it returns True when
    enough is measured."""

    def __init__(self, flags):
        self.flags = flags
        self.first_step_seconds = None
        self.done = 0
        self.begin = None
        self.seconds = 0
        self.measured = 0

    def step(self):
        now = time.monotonic()
        if self.first_step_seconds is None:
            self.first_step_seconds = seconds_since_process_start()
        self.done += 1
        if self.begin is not None:
            self.seconds = now - self.begin
            self.measured += 1
            limit = self.flags.seconds
            return self.measured >= self.flags.steps or (limit > 0 and self.seconds >= limit)
        if self.done >= self.flags.warmup_steps:
            self.begin = now
        return False

    def per_second(self, amount_per_step):
        return amount_per_step * self.measured / self.seconds if self.seconds > 0 else None


def print_json(program, fields):
    print(json.dumps({"program": program, **fields}), flush=True)


def print_training(program, flags, meter, unit, processes=1, **fields):
    """The line of a training: the fields of our benchmarks that a script can know. The speed is
    that of all processes."""
    print_json(program, {
        "batch_size": flags.batch_size,
        "compute_dtype": flags.compute_dtype,
        **fields,
        unit + "_per_second": meter.per_second(flags.batch_size * processes),
        "measured_steps": meter.measured,
        "first_step_seconds": meter.first_step_seconds,
        "peak_rss_mib": peak_rss_mib(),
        "threads": flags.threads,
    })
