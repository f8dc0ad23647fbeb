#!/usr/bin/env python3
"""Measures training in two processes beside PyTorch's DistributedDataParallel, which both sum on
one machine. Prints lines of JSON, and then a table for docs/cluster.md.

usage: tools/peers/processes.py [--parts=all_reduce,train,link] [--torch_python=PYTHON] ...

The parts:
  all_reduce  the sum of 100 MB over two processes of this machine
  train       MNIST's network on two replicas: one process of two threads and two of one thread
  link        the same in two processes that a link of 1 Gb/s connects, with a batch whose step
              takes --compute_ms without sums: how much of the traffic overlaps. The processes are
              in two network namespaces, so this part needs root; it is left out otherwise.

Every process has one core. Build the programs first:
  ./bazelw build //estimator/distributed:all_reduce_benchmark //models/mnist:mnist_benchmark
"""
import argparse
import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TIMEOUT_SECONDS = 600
# The gradients of MNIST's network.
GRADIENT_MB = 3_274_634 * 4 / 1e6
OURS, PYTORCH = "ours", "PyTorch"


def parse_flags():
    flags = argparse.ArgumentParser(description=__doc__,
                                    formatter_class=argparse.RawDescriptionHelpFormatter)
    flags.add_argument("--parts", default="all_reduce,train,link")
    flags.add_argument("--programs", default=OURS + "," + PYTORCH)
    flags.add_argument("--rounds", type=int, default=3,
                       help="of parts train and link; the table has medians")
    flags.add_argument("--steps", type=int, default=40, help="measured steps of a training")
    flags.add_argument("--all_reduce_rounds", type=int, default=30, help="the least of so many")
    flags.add_argument("--compute_ms", type=float, default=140, help="of part link")
    flags.add_argument("--rate", default="1gbit", help="of the link, as tc spells it")
    flags.add_argument("--bin", default=os.path.join(ROOT, "bazel-bin"), help="our programs")
    flags.add_argument("--torch_python", help="a Python with PyTorch",
                       default=os.path.expanduser("~/.cache/estimator-peers/torch/bin/python"))
    return flags.parse_args()


class Link:
    """Two network namespaces and a link between them."""

    def __init__(self, rate):
        self.names = ["estimator_%d_%d" % (os.getpid(), rank) for rank in range(2)]
        self.rate = rate
        self.host = "10.77.0.1"

    def ends(self):
        return [(name, "veth_est%d" % rank) for rank, name in enumerate(self.names)]

    def __enter__(self):
        (first, veth), (second, other) = self.ends()
        try:
            for name in self.names:
                call("ip", "netns", "add", name)
            call("ip", "link", "add", veth, "netns", first, "type", "veth", "peer", "name", other,
                 "netns", second)
            for rank, (name, device) in enumerate(self.ends()):
                inside = ["ip", "-n", name]
                call(*inside, "address", "add", "10.77.0.%d/24" % (rank + 1), "dev", device)
                call(*inside, "link", "set", device, "up")
                call(*inside, "link", "set", "lo", "up")
                # A bucket of 4 packets of the largest size: bursts do not count.
                call("tc", "-n", name, "qdisc", "add", "dev", device, "root", "tbf", "rate",
                     self.rate, "burst", "256kb", "limit", "8mb")
        except subprocess.CalledProcessError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *unused):
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)

    def inside(self, rank):
        """The beginning of the command of a process. It sees no other processes, so that ours do
        not find the memory that they could share."""
        return ["ip", "netns", "exec", self.names[rank], "unshare", "--pid", "--fork",
                "--kill-child", "--mount-proc", "env",
                "GLOO_SOCKET_IFNAME=" + self.ends()[rank][1]]


def call(*command):
    subprocess.run(command, check=True)


def free_port():
    # Below the ports that the system chooses for connections.
    for port in range(21000 + os.getpid() % 5000, 32000):
        with contextlib.closing(socket.socket()) as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SystemExit("error: no port is free")


def run_processes(command, processes, cores, link=None, apart=False):
    """Runs `processes` copies of a command, each with its part of the cores. Returns the line of
    JSON of rank 0; with `apart`, in which the copies do not know of each other, those of all."""
    port = free_port()
    each = len(cores) // processes
    running = []
    for rank in range(processes):
        environment = dict(os.environ, OMP_NUM_THREADS=str(each))
        environment.pop("OMP_WAIT_POLICY", None)
        if processes > 1 and not apart:
            environment.update(RANK=str(rank), WORLD_SIZE=str(processes), MASTER_PORT=str(port),
                               MASTER_ADDR=link.host if link else "127.0.0.1")
        mine = cores[rank * each:(rank + 1) * each]
        running.append(subprocess.Popen(
            (link.inside(rank) if link else []) + command, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=lambda mine=mine: os.sched_setaffinity(0, mine)))
    results = []
    try:
        for rank, process in enumerate(running):
            output, errors = process.communicate(timeout=TIMEOUT_SECONDS)
            lines = [line for line in output.splitlines() if line.startswith("{")]
            if process.returncode != 0 or (not lines and (rank == 0 or apart)):
                raise SystemExit("error: %s: exit status %d\n%s"
                                 % (" ".join(command), process.returncode, errors[-2000:]))
            results += [json.loads(line) for line in lines[-1:]]
    finally:
        for process in running:
            process.kill()
            process.wait()
    return results if apart else results[0]


class Programs:
    """The commands of one side."""

    def __init__(self, flags, name):
        self.flags = flags
        self.name = name

    def python(self, script):
        return [self.flags.torch_python, os.path.join(HERE, script)]

    def all_reduce(self, megabytes, rounds):
        arguments = ["%g" % megabytes, str(rounds)]
        if self.name == OURS:
            return [os.path.join(self.flags.bin, "estimator/distributed/all_reduce_benchmark"),
                    *arguments]
        return self.python("torch_all_reduce.py") + arguments

    def train(self, batch_size, processes, replicas):
        """batch_size is that of all replicas, one or two, in so many processes."""
        steps = ["--steps=%d" % self.flags.steps, "--warmup_steps=5"]
        if self.name == OURS:
            return [os.path.join(self.flags.bin, "models/mnist/mnist_benchmark"), "--use_tpu=true",
                    "--num_shards=%d" % replicas, "--batch_size=%d" % batch_size, "--iterations=5",
                    *steps]
        return self.python("torch_mnist.py") + steps + ["--batch_size=%d"
                                                        % (batch_size // processes)]


def report(part, program, **fields):
    print(json.dumps({"part": part, "program": program, **fields}), flush=True)


def measure_all_reduce(programs, cores, flags):
    rows, bound = [], None
    for program in programs:
        result = run_processes(program.all_reduce(100, flags.all_reduce_rounds), 2, cores)
        report("all_reduce", program.name, **{key: value for key, value in result.items()
                                              if key != "program"})
        bound = bound or result.get("bound_ms")
        for field, title in (("bound_ms", "the bound: two cores add arrays of their own"),
                             ("shared_ms", "in shared memory"),
                             ("copied_ms", "with copies to and from it"),
                             ("gloo_ms", "through Gloo")):
            if field in result:
                ratio = "%.2f" % (result[field] / bound) if bound else ""
                rows.append("| %s: %s | %.1f ms | %s |"
                            % (program.name, title, result[field], ratio))
    return ["| sum of 100 MB over two processes | time | of the bound |", "|---|---|---|"] + rows


def measure_train(programs, cores, flags):
    speeds = {}
    for round_number in range(1, flags.rounds + 1):
        for program in programs:
            for processes in (1, 2):
                result = run_processes(program.train(1024, processes, 2), processes, cores)
                speed = result["images_per_second"]
                report("train", program.name, round=round_number, processes=processes,
                       images_per_second=speed)
                speeds.setdefault((program.name, processes), []).append(speed)
    rows = []
    for program in programs:
        one, two = (statistics.median(speeds[program.name, processes]) for processes in (1, 2))
        rows.append("| %s | %s | %s | %.3f |"
                    % (program.name, format(round(one), ","), format(round(two), ","), two / one))
    return ["| MNIST, batch 1024: images/s | 1 process of 2 threads | 2 processes of 1 | ratio |",
            "|---|---|---|---|"] + rows


def measure_link(programs, cores, flags):
    if os.geteuid() != 0:
        print("part link is left out: network namespaces need root", file=sys.stderr)
        return []
    rows = []
    for program in programs:
        def compute_ms(batch):
            # Both cores at once, as in the step of two processes.
            results = run_processes(program.train(batch, 1, 1), 2, cores, apart=True)
            return max(1000 * batch / result["images_per_second"] for result in results)

        batch = 512
        for _ in range(2):  # a larger batch has another speed
            batch = max(8, round(batch * flags.compute_ms / compute_ms(batch) / 8) * 8)
        times = []
        with Link(flags.rate) as link:
            for _ in range(flags.rounds):
                compute = compute_ms(batch)
                traffic = run_processes(program.all_reduce(GRADIENT_MB, 5), 2, cores, link)
                result = run_processes(program.train(2 * batch, 2, 2), 2, cores, link)
                times.append((compute, traffic["gloo_ms"],
                              2000 * batch / result["images_per_second"]))
                report("link", program.name, batch_of_a_process=batch,
                       **dict(zip(("compute_ms", "traffic_ms", "step_ms"), times[-1])))
        compute, traffic, step = (statistics.median(each) for each in zip(*times))
        rows.append("| %s | %d | %.0f ms | %.0f ms | %.0f ms | %.0f ms |"
                    % (program.name, batch, compute, traffic, step, compute + traffic - step))
    return ["| link of %s | batch of a process | computation | traffic | step | hidden |"
            % flags.rate, "|---|---|---|---|---|---|"] + rows


PARTS = {"all_reduce": measure_all_reduce, "train": measure_train, "link": measure_link}


def main():
    flags = parse_flags()
    parts, names = flags.parts.split(","), flags.programs.split(",")
    wrong = [name for name in parts if name not in PARTS]
    wrong += [name for name in names if name not in (OURS, PYTORCH)]
    if wrong:
        raise SystemExit("error: not known: %s; parts are %s, programs %s, %s"
                         % (", ".join(wrong), ", ".join(PARTS), OURS, PYTORCH))
    if PYTORCH in names and subprocess.run([flags.torch_python, "-c", "import torch"], check=False,
                                           capture_output=True).returncode != 0:
        print("PyTorch is left out: %s does not have it" % flags.torch_python, file=sys.stderr)
        names.remove(PYTORCH)
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        raise SystemExit("error: two cores are needed")
    programs = [Programs(flags, name) for name in names]
    for part in parts:
        print("\n" + "\n".join(PARTS[part](programs, cores, flags)) + "\n", flush=True)


if __name__ == "__main__":
    main()
