#!/usr/bin/env python3
"""PyTorch's side of all_reduce_benchmark.cc: the all-reduce of a buffer through Gloo.

usage: RANK=... WORLD_SIZE=... MASTER_ADDR=... MASTER_PORT=... torch_all_reduce.py MEGABYTES ROUNDS
"""
import sys
import time

import measure


def main():
    megabytes, rounds = float(sys.argv[1]), int(sys.argv[2])
    import torch
    from torch import distributed
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    values = torch.ones(int(megabytes * 250_000))
    least = float("inf")
    for _ in range(rounds):
        distributed.barrier()
        begin = time.perf_counter()
        distributed.all_reduce(values)
        slowest = torch.tensor([time.perf_counter() - begin])
        distributed.all_reduce(slowest, distributed.ReduceOp.MAX)
        least = min(least, slowest.item())
        values.fill_(1)
    if distributed.get_rank() == 0:
        measure.print_json("torch_all_reduce", {"processes": distributed.get_world_size(),
                                                "megabytes": megabytes, "gloo_ms": 1000 * least})
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
