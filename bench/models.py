#!/usr/bin/env python3
"""Whole models on the CPU: ours (libtc's C interface, by ctypes) and ONNX Runtime in turn, on the same weights and inputs.

usage: bench/models.py [--threads 2] [--rounds 15] [NAME...]     NAME: resnet50, bert (default: both)
Needs: pip install numpy torch torchvision transformers onnx onnxscript onnxruntime. Exports land in build/bench and are reused.
"""
import argparse
import ctypes
import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
CACHE = ROOT / "build" / "bench"


def make(name):
    import torch

    torch.manual_seed(0)
    if name == "resnet50":
        import torchvision

        return torchvision.models.resnet50().eval(), (torch.randn(1, 3, 224, 224),)
    import transformers

    bert = transformers.BertModel(transformers.BertConfig()).eval()

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.bert = bert

        def forward(self, ids, mask, types):
            out = self.bert(input_ids=ids, attention_mask=mask, token_type_ids=types)
            return out.last_hidden_state, out.pooler_output

    ids = torch.randint(0, 30522, (1, 128))
    return Encoder(), (ids, torch.ones(1, 128, dtype=torch.int64), torch.zeros(1, 128, dtype=torch.int64))


def export(name):
    """Writes NAME.pt2, NAME.onnx, the inputs and PyTorch's answers once."""
    folder = CACHE / name
    if (folder / "done").exists():
        return folder
    import torch

    folder.mkdir(parents=True, exist_ok=True)
    model, args = make(name)
    with torch.no_grad():
        program = torch.export.export(model, args, strict=False)
        torch.export.save(program, folder / "model.pt2")
        answers = program.module()(*args)
        torch.onnx.export(model, args, folder / "model.onnx", dynamo=True, external_data=True)
    answers = answers if isinstance(answers, tuple) else (answers,)
    for i, t in enumerate(args):
        np.save(folder / f"input{i}.npy", t.numpy())
    for i, t in enumerate(answers):
        np.save(folder / f"output{i}.npy", t.numpy())
    (folder / "done").touch()
    return folder


class Tc:
    DTYPES = {"float32": 2, "int64": 7}

    def __init__(self, folder, threads):
        self.lib = ctypes.CDLL(str(ROOT / "build/release/lib/libtc.so"))
        self.lib.tc_last_error.restype = ctypes.c_char_p
        self.lib.tc_tensor_data.restype = ctypes.c_void_p
        self.lib.tc_tensor_bytes.restype = ctypes.c_int64
        self.lib.tc_tensor_data.argtypes = self.lib.tc_tensor_bytes.argtypes = [ctypes.c_void_p]
        self.lib.tc_set_num_threads(threads)
        self.model = ctypes.c_void_p()
        start = time.perf_counter()
        self.check(self.lib.tc_model_load(str(folder / "model.pt2").encode(), None, ctypes.byref(self.model)))
        self.load_s = time.perf_counter() - start

    def check(self, status):
        if status:
            sys.exit("tc: " + self.lib.tc_last_error().decode())

    def bind(self, arrays, n_out):
        self.arrays = arrays
        self.n_out = n_out
        self.inputs = (ctypes.c_void_p * len(arrays))()
        for i, a in enumerate(arrays):
            shape = (ctypes.c_int64 * a.ndim)(*a.shape)
            tensor = ctypes.c_void_p()
            self.check(self.lib.tc_tensor_wrap(a.ctypes.data_as(ctypes.c_void_p), self.DTYPES[str(a.dtype)], a.ndim, shape, ctypes.byref(tensor)))
            self.inputs[i] = tensor
        self.outputs = (ctypes.c_void_p * n_out)()

    def run(self):
        self.check(self.lib.tc_model_run(self.model, self.inputs, ctypes.c_size_t(len(self.arrays)), self.outputs, ctypes.c_size_t(self.n_out)))

    def take(self):
        values = []
        for t in self.outputs:
            n = self.lib.tc_tensor_bytes(t)
            values.append(np.frombuffer(ctypes.string_at(self.lib.tc_tensor_data(t), n), dtype=np.float32))
            self.lib.tc_tensor_release(ctypes.c_void_p(t))
        return values


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("names", nargs="*", default=["resnet50", "bert"])
    args = parser.parse_args()
    for name in args.names:
        folder = export(name)
        import onnxruntime

        inputs = [np.load(p) for p in sorted(folder.glob("input*.npy"))]
        answers = [np.load(p) for p in sorted(folder.glob("output*.npy"))]
        ours = Tc(folder, args.threads)
        ours.bind(inputs, len(answers))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = args.threads
        peer = onnxruntime.InferenceSession(str(folder / "model.onnx"), options, providers=["CPUExecutionProvider"])
        feed = {spec.name: a for spec, a in zip(peer.get_inputs(), inputs)}
        times, peer_times = [], []
        for r in range(args.rounds + 2):
            # Each side's idle threads spin for a while after a run, on the cores that the other needs: wait until they sleep.
            time.sleep(0.05)
            t0 = time.perf_counter()
            ours.run()
            t1 = time.perf_counter()
            time.sleep(0.05)
            t2 = time.perf_counter()
            theirs = peer.run(None, feed)
            t3 = time.perf_counter()
            got = ours.take()
            if r == 0:
                for which, values in (("tc", got), ("onnxruntime", theirs)):
                    error = max(np.linalg.norm(v.ravel() - a.ravel()) / np.linalg.norm(a) for v, a in zip(values, answers))
                    print(f"{name}: {which}: relative error against PyTorch {error:.1e}")
                    if error > 1e-4:
                        sys.exit(1)
            if r >= 2:
                times.append(t1 - t0)
                peer_times.append(t3 - t2)
        a, b = statistics.median(times) * 1e3, statistics.median(peer_times) * 1e3
        print(f"{name}: {args.threads} threads: ours {a:.1f} ms, ONNX Runtime {onnxruntime.__version__} {b:.1f} ms, ratio {b / a:.2f}; load and compile {ours.load_s:.2f} s")


if __name__ == "__main__":
    main()
