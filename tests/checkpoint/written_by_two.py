"""Writes a checkpoint as two processes of FSDP do: `python written_by_two.py FOLDER`. Parameters are cut along their
first axis, one tensor along its second; the numbers are those of `whole()`.
"""

import sys
import warnings

import torch
import torch.distributed as dist
from torch.distributed.checkpoint import save
from torch.distributed.checkpoint.state_dict import get_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import Shard, distribute_tensor


def net():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Linear(16, 7), torch.nn.Linear(7, 3))


def wide():
    return torch.arange(6.0 * 500).reshape(6, 500)


def one(rank, folder):
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}.meet", rank=rank, world_size=2)
    mesh = init_device_mesh("cpu", (2,))
    model = net()
    fully_shard(model, mesh=mesh)
    adam = torch.optim.AdamW(model.parameters(), lr=0.01)
    model(torch.ones(4, 16)).square().mean().backward()
    adam.step()
    parameters, optimizer = get_state_dict(model, adam)
    parameters["wide"] = distribute_tensor(wide(), mesh, [Shard(1)])
    save({"model": parameters, "optim": optimizer, "step": 1}, checkpoint_id=folder)
    whole = {name: t.full_tensor() if hasattr(t, "full_tensor") else t for name, t in parameters.items()}
    if rank == 0:
        torch.save(whole, f"{folder}.whole.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.start_processes(one, (sys.argv[1],), nprocs=2, start_method="fork")
