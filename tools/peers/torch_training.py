"""The training loop of torch_mnist.py and torch_resnet.py.

With RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT, several processes train one model with
DistributedDataParallel on Gloo. --batch_size is then that of a process, --seconds must be left out,
and rank 0 prints the speed of all.
"""
import os

import measure


def add_flags(flags):
    flags.add_argument("--compile", action="store_true", help="torch.compile the model")
    flags.add_argument("--layout", choices=["nchw", "nhwc"], default="nhwc")
    return flags


def run(program, flags, model, images, labels, optimizer, **fields):
    """Trains on one batch and prints the line of JSON."""
    import torch
    size, rank = (int(os.environ.get(name, default))
                  for name, default in (("WORLD_SIZE", "1"), ("RANK", "0")))
    torch.set_num_threads(flags.threads)
    if flags.layout == "nhwc":
        model = model.to(memory_format=torch.channels_last)
        images = images.contiguous(memory_format=torch.channels_last)
    forward = torch.compile(model) if flags.compile else model
    if size > 1:
        torch.distributed.init_process_group("gloo")
        forward = torch.nn.parallel.DistributedDataParallel(forward)
    meter = measure.Meter(flags)
    while True:
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=flags.compute_dtype == "bfloat16"):
            loss = torch.nn.functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimizer.step()
        if meter.step():
            break
    if rank == 0:
        measure.print_training(program, flags, meter, "images", size, input="synthetic",
                               compile=flags.compile, layout=flags.layout, **fields)
    if size > 1:
        torch.distributed.destroy_process_group()


