"""PyTorch's side of all_reduce_benchmark.cc: prints the ms of an all-reduce through Gloo.

Usage: all_reduce_benchmark.py PROCESSES MEGABYTES
"""

import sys
import time

import torch
import torch.distributed as distributed
import torch.multiprocessing as multiprocessing

ROUNDS = 30


def measure(rank, size, megabytes, port):
    torch.set_num_threads(1)
    distributed.init_process_group("gloo", f"tcp://127.0.0.1:{port}", rank=rank, world_size=size)
    values = torch.ones(megabytes * 250_000)
    least = float("inf")
    for _ in range(ROUNDS):
        distributed.barrier()
        begin = time.perf_counter()
        distributed.all_reduce(values)
        slowest = torch.tensor([time.perf_counter() - begin])
        distributed.all_reduce(slowest, distributed.ReduceOp.MAX)
        least = min(least, slowest.item())
        values.fill_(1)
    if rank == 0:
        print(least * 1000)


def main():
    size, megabytes = int(sys.argv[1]), int(sys.argv[2])
    store = distributed.TCPStore("127.0.0.1", 0, is_master=True, wait_for_workers=False)
    port = store.port
    del store  # the port is free again
    multiprocessing.spawn(measure, (size, megabytes, port), size)


if __name__ == "__main__":
    main()
