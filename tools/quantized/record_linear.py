#!/usr/bin/env python3
"""Records what quantization libraries store for one linear weight.

Each case makes a small linear layer, packs it with the library's own code on
the CPU, and prints one JSON line: the library with its version, the packing in
the words of src/analysis/quantization/packed_linear.h, the weight's shape and
the tensors of the state dict (dtype as safetensors spells it, shape).

  python3 tools/quantized/record_linear.py > tests/truth/packed_linear.jsonl

Needs torch, bitsandbytes, compressed-tensors, hqq, torchao, and the sources of
autoawq and auto-round where their paths are given (--autoawq, --autoround); a
library that is not there is named on stderr and left out.
"""

import argparse
import importlib.metadata
import json
import sys

import torch

OUT, IN = 96, 256
DTYPES = {
    torch.float64: "F64", torch.float32: "F32", torch.float16: "F16",
    torch.bfloat16: "BF16", torch.int64: "I64", torch.int32: "I32",
    torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8",
    torch.float8_e4m3fn: "F8_E4M3",
}


def emit(library, packing, tensors, shape=(OUT, IN)):
    row = {"library": library, "packing": packing, "out": shape[0],
           "in": shape[1], "tensors": {}}
    for name, value in tensors.items():
        row["tensors"][name] = [DTYPES[value.dtype], list(value.shape)]
    print(json.dumps(row))


def version(name):
    return f"{name} {importlib.metadata.version(name)}"


def weight():
    return torch.randn(OUT, IN, dtype=torch.bfloat16)


def bitsandbytes():
    from bitsandbytes.nn import Int8Params, Linear4bit, Linear8bitLt, Params4bit
    name = version("bitsandbytes")
    for kind in ("nf4", "fp4"):
        for double in (True, False):
            layer = Linear4bit(IN, OUT, bias=False, quant_type=kind,
                               compress_statistics=double,
                               compute_dtype=torch.bfloat16)
            layer.weight = Params4bit(weight(), requires_grad=False,
                                      quant_type=kind,
                                      compress_statistics=double)
            layer = layer.to("cpu")
            if not layer.weight.bnb_quantized:
                layer.weight = layer.weight._quantize("cpu")
            emit(name, {"format": "bnb4", "kind": kind,
                        "double_quantized": double}, layer.state_dict())
    layer = Linear8bitLt(IN, OUT, bias=False, has_fp16_weights=False)
    layer.weight = Int8Params(weight().half(), requires_grad=False,
                              has_fp16_weights=False)
    layer.weight = layer.weight._quantize("cpu")
    emit(name, {"format": "bnb8"}, layer.state_dict())


def compressed_tensors():
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import (QuantizationArgs,
                                                 QuantizationConfig,
                                                 QuantizationScheme,
                                                 apply_quantization_config)
    name = version("compressed-tensors")

    def case(packing, form, weights, inputs=None):
        model = torch.nn.Sequential()
        model.add_module("lin", torch.nn.Linear(IN, OUT, bias=False,
                                                dtype=torch.bfloat16))
        scheme = QuantizationScheme(
            targets=["Linear"], weights=QuantizationArgs(**weights),
            input_activations=QuantizationArgs(**inputs) if inputs else None)
        config = QuantizationConfig(config_groups={"group_0": scheme},
                                    format=form)
        apply_quantization_config(model, config)
        for key, value in model.lin.named_parameters():
            if "scale" in key and value.numel():
                value.data.fill_(1)
        ModelCompressor(quantization_config=config).compress_model(model)
        emit(name, packing, model.lin.state_dict())

    ints = {"num_bits": 4, "type": "int", "strategy": "group",
            "group_size": 128}
    form = "pack-quantized"
    case({"format": form, "bits": 4, "group_size": 128, "symmetric": True},
         form, {**ints, "symmetric": True})
    case({"format": form, "bits": 4, "group_size": 128, "symmetric": False},
         form, {**ints, "symmetric": False})
    case({"format": form, "bits": 8, "group_size": -1, "symmetric": True}, form,
         {"num_bits": 8, "type": "int", "strategy": "channel",
          "symmetric": True})
    form = "int-quantized"
    case({"format": form, "scales": "channel", "symmetric": True}, form,
         {"num_bits": 8, "type": "int", "strategy": "channel",
          "symmetric": True},
         {"num_bits": 8, "type": "int", "strategy": "token", "dynamic": True,
          "symmetric": True})
    form = "float-quantized"
    floats = {"num_bits": 8, "type": "float", "symmetric": True}
    case({"format": form, "scales": "channel"}, form,
         {**floats, "strategy": "channel"},
         {**floats, "strategy": "token", "dynamic": True})
    case({"format": form, "scales": "tensor", "has_input_scale": True}, form,
         {**floats, "strategy": "tensor"},
         {**floats, "strategy": "tensor", "dynamic": False})
    case({"format": form, "scales": "block"}, form,
         {**floats, "strategy": "block", "block_structure": [128, 128]},
         {**floats, "strategy": "group", "group_size": 128, "dynamic": True})
    four = {"num_bits": 4, "type": "float", "symmetric": True}
    case({"format": "nvfp4", "has_input_scale": True}, "nvfp4-pack-quantized",
         {**four, "strategy": "tensor_group", "group_size": 16},
         {**four, "strategy": "tensor_group", "group_size": 16,
          "dynamic": "local"})
    case({"format": "nvfp4"}, "nvfp4-pack-quantized",
         {**four, "strategy": "tensor_group", "group_size": 16})
    case({"format": "mxfp4"}, "mxfp4-pack-quantized",
         {**four, "strategy": "group", "group_size": 32})


def marlin_24():
    """Of compressed-tensors 0.9; later releases dropped the format."""
    from compressed_tensors.compressors.sparse_quantized_compressors import \
        marlin_24 as format_24
    from compressed_tensors.quantization import QuantizationArgs
    out, inner = 128, 512
    for bits, group in ((4, 128), (4, -1), (8, 128)):
        kept = torch.randn(out, inner // 4, 4, dtype=torch.float16)
        kept[:, :, 2:] = 0
        args = QuantizationArgs(
            num_bits=bits, type="int", symmetric=True,
            strategy="group" if group > 0 else "channel",
            group_size=group if group > 0 else None)
        scale = torch.ones(out, inner // group if group > 0 else 1,
                           dtype=torch.float16)
        packed = format_24.Marlin24Compressor().compress(
            {"lin.weight": kept.reshape(out, inner), "lin.weight_scale": scale,
             "lin.weight_zero_point": torch.zeros_like(scale, dtype=torch.int8)},
            names_to_scheme={"lin": args})
        emit(version("compressed-tensors"),
             {"format": "marlin-24", "bits": bits, "group_size": group,
              "symmetric": True},
             {name.removeprefix("lin."): value
              for name, value in packed.items()}, (out, inner))


def hqq():
    from hqq.core.quantize import BaseQuantizeConfig, HQQLinear
    name = version("hqq")
    for bits, group in ((4, 64), (4, 128), (8, 256), (3, 64), (2, 16), (1, 32)):
        layer = HQQLinear(torch.nn.Linear(IN, OUT, bias=False),
                          quant_config=BaseQuantizeConfig(nbits=bits,
                                                          group_size=group),
                          compute_dtype=torch.float16, device="cpu")
        emit(name, {"format": "hqq", "bits": bits, "group_size": group},
             layer.state_dict())


def torchao():
    import torchao.quantization as q
    model = torch.nn.Sequential(torch.nn.Linear(IN, OUT, bias=False,
                                                dtype=torch.bfloat16))
    q.quantize_(model, q.Int8WeightOnlyConfig())
    tensor = model[0].weight
    names, _ = tensor.__tensor_flatten__()
    emit(version("torchao"), {"format": "torchao-int8"},
         {f"weight.{n}": getattr(tensor, n) for n in names})


def autoround(path):
    sys.path.insert(0, path)
    from auto_round_extension.torch.qlinear_torch import QuantLinear
    for bits in (2, 3, 4, 8):
        layer = QuantLinear(bits, 128, IN, OUT, False, g_idx=True)
        emit("auto-round", {"format": "gptq", "bits": bits, "group_size": 128},
             layer.state_dict())


def autoawq(path):
    sys.path.insert(0, path)
    from awq.modules.linear.gemm import WQLinear_GEMM
    layer = WQLinear_GEMM(4, 128, IN, OUT, False, "cpu")
    emit("autoawq", {"format": "awq", "bits": 4, "group_size": 128},
         layer.state_dict())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--autoawq", help="its unpacked source")
    parser.add_argument("--autoround", help="its unpacked source")
    args = parser.parse_args()
    torch.manual_seed(0)
    cases = [("bitsandbytes", bitsandbytes),
             ("compressed-tensors", compressed_tensors),
             ("marlin-24", marlin_24), ("hqq", hqq), ("torchao", torchao)]
    if args.autoround:
        cases.append(("auto-round", lambda: autoround(args.autoround)))
    if args.autoawq:
        cases.append(("autoawq", lambda: autoawq(args.autoawq)))
    for name, case in cases:
        try:
            case()
        except ImportError as error:
            print(f"left out: {name}: {error}", file=sys.stderr)


if __name__ == "__main__":
    main()
