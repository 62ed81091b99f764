#!/usr/bin/env python3
"""Records the headers of small models that quantization libraries packed.

Each case makes a Llama of one layer, packs it on the CPU with the library's own
code, saves it, and prints one JSON line: the library with its version, the
configuration that it saved, and the tensors of the file (name, dtype as
safetensors spells it, shape).

  python3 tools/quantized/record_models.py > tests/truth/packed_models.jsonl

Needs torch, transformers, bitsandbytes, compressed-tensors and hqq, and the
unpacked sources of gptqmodel, autoawq, auto-round, aqlm and nvidia-modelopt
below a folder (--sources); a library that is not there is named on stderr and
left out.
"""

import argparse
import importlib.metadata
import json
import pathlib
import sys
import tempfile
import types

import torch
from safetensors import safe_open
from transformers import LlamaConfig, LlamaForCausalLM

DTYPES = {
    torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
    torch.int64: "I64", torch.int32: "I32", torch.int16: "I16",
    torch.int8: "I8", torch.uint8: "U8", torch.float8_e4m3fn: "F8_E4M3",
}


def tiny():
    torch.manual_seed(0)
    return LlamaForCausalLM(LlamaConfig(
        hidden_size=128, intermediate_size=256, num_hidden_layers=1,
        num_attention_heads=4, num_key_value_heads=2, vocab_size=64,
        max_position_embeddings=64)).to(torch.bfloat16)


def version(name):
    return f"{name} {importlib.metadata.version(name)}"


def emit(library, case, config, tensors):
    print(json.dumps({"library": library, "case": case, "config": config,
                      "tensors": sorted(tensors)}), file=sys.__stdout__,
          flush=True)


def saved(library, case, save):
    """Emits what `save(folder)` wrote."""
    with tempfile.TemporaryDirectory() as folder:
        save(folder)
        config = json.loads((pathlib.Path(folder) / "config.json").read_text())
        tensors = []
        for path in pathlib.Path(folder).glob("*.safetensors"):
            with safe_open(path, "pt") as file:
                for name in file.keys():
                    part = file.get_slice(name)
                    tensors.append([name, part.get_dtype(), part.get_shape()])
        emit(library, case, config, tensors)


def held(library, case, model, quantization):
    """Emits the state dict of a model whose layers a library replaced."""
    config = dict(model.config.to_diff_dict(),
                  architectures=["LlamaForCausalLM"], torch_dtype="bfloat16",
                  quantization_config=quantization)
    emit(library, case, config,
         [[name, DTYPES[value.dtype], list(value.shape)]
          for name, value in model.state_dict().items()])


def replace(model, make):
    """Every linear layer of the blocks becomes make(layer)."""
    for name, layer in list(model.model.named_modules()):
        if isinstance(layer, torch.nn.Linear):
            parent = model.model.get_submodule(name.rpartition(".")[0])
            setattr(parent, name.rpartition(".")[2], make(layer))
    return model


def with_transformers(library, case, quantization):
    def save(folder):
        with tempfile.TemporaryDirectory() as plain:
            tiny().save_pretrained(plain)
            LlamaForCausalLM.from_pretrained(
                plain, quantization_config=quantization, device_map="cpu",
                dtype=torch.bfloat16).save_pretrained(folder)
    saved(library, case, save)


def bitsandbytes():
    from transformers import BitsAndBytesConfig
    name = version("bitsandbytes")
    for kind in ("nf4", "fp4"):
        for double in (True, False):
            with_transformers(name, f"{kind} {'nested' if double else 'plain'}",
                              BitsAndBytesConfig(
                                  load_in_4bit=True, bnb_4bit_quant_type=kind,
                                  bnb_4bit_use_double_quant=double,
                                  bnb_4bit_compute_dtype=torch.bfloat16))
    with_transformers(name, "int8", BitsAndBytesConfig(load_in_8bit=True))


def compressed_tensors():
    from compressed_tensors.compressors import ModelCompressor
    from compressed_tensors.quantization import (QuantizationConfig,
                                                 QuantizationScheme,
                                                 apply_quantization_config,
                                                 preset_name_to_scheme)
    name = version("compressed-tensors")
    for preset in ("W4A16", "W4A16_ASYM", "W8A16", "W8A8", "INT8", "FP8",
                   "FP8_DYNAMIC", "FP8_BLOCK", "NVFP4", "NVFP4A16", "MXFP4"):
        try:
            scheme = preset_name_to_scheme(preset, ["Linear"])
        except KeyError:
            print(f"left out: no preset {preset}", file=sys.stderr)
            continue

        def save(folder, scheme=scheme):
            model = tiny()
            config = QuantizationConfig(config_groups={"group_0": scheme},
                                        ignore=["lm_head"])
            apply_quantization_config(model, config)
            for key, value in model.named_parameters():
                if "scale" in key and value.numel():
                    value.data.fill_(1)
            compressor = ModelCompressor.from_pretrained_model(model)
            compressor.compress_model(model)
            model.save_pretrained(folder)
            compressor.update_config(folder)
        saved(name, preset, save)


def hqq():
    from hqq.core.quantize import BaseQuantizeConfig, HQQLinear
    for bits, group in ((4, 64), (8, 128), (3, 64)):
        weights = BaseQuantizeConfig(nbits=bits, group_size=group, axis=1)
        model = replace(tiny(), lambda layer, weights=weights: HQQLinear(
            layer, quant_config=weights, compute_dtype=torch.bfloat16,
            device="cpu"))
        held(version("hqq"), f"{bits} bits in {group}", model,
             {"quant_method": "hqq", "skip_modules": ["lm_head"],
              "quant_config": weights})


def gptqmodel():
    from gptqmodel.nn_modules.qlinear.torch import TorchLinear
    from gptqmodel.quantization import FORMAT, METHOD
    for bits, group in ((4, 128), (8, 32), (3, 128), (2, 64)):
        def make(layer, bits=bits, group=group):
            return TorchLinear(
                bits=bits, group_size=group, sym=True, desc_act=False,
                in_features=layer.in_features, out_features=layer.out_features,
                bias=False, pack_dtype=torch.int32, register_buffers=True)
        held("gptqmodel 7.7.0", f"{bits} bits in {group}", replace(tiny(), make),
             {"quant_method": "gptq", "bits": bits, "group_size": group,
              "sym": True, "desc_act": False, "lm_head": False,
              "checkpoint_format": "gptq"})


def autoawq():
    # Its packages import data sets and every model; the layer needs neither.
    folder = next(pathlib.Path(entry) / "awq" for entry in sys.path
                  if (pathlib.Path(entry) / "awq" / "modules").is_dir())
    for name in ("awq", "awq.modules", "awq.modules.linear", "awq.utils"):
        package = types.ModuleType(name)
        package.__path__ = [str(folder.parent / name.replace(".", "/"))]
        sys.modules[name] = package
    from awq.modules.linear.gemm import WQLinear_GEMM
    def make(layer):
        return WQLinear_GEMM(4, 128, layer.in_features, layer.out_features,
                             False, "cpu")
    held("autoawq 0.2.9", "GEMM", replace(tiny(), make),
         {"quant_method": "awq", "bits": 4, "group_size": 128,
          "zero_point": True, "version": "gemm",
          "modules_to_not_convert": None})


def auto_round():
    from auto_round_extension.torch.qlinear_torch import QuantLinear
    for bits in (2, 3, 4, 8):
        def make(layer, bits=bits):
            return QuantLinear(bits, 128, layer.in_features,
                               layer.out_features, False, g_idx=True)
        held("auto-round 0.16.1", f"{bits} bits", replace(tiny(), make),
             {"quant_method": "auto-round", "bits": bits, "group_size": 128,
              "sym": True, "packing_format": "auto_round:auto_gptq"})


def aqlm():
    from aqlm import QuantizedLinear
    for books, bits in ((1, 16), (2, 8)):
        def make(layer, books=books, bits=bits):
            return QuantizedLinear(
                layer.in_features, layer.out_features, in_group_size=8,
                out_group_size=1, num_codebooks=books, nbits_per_codebook=bits,
                bias=False, dtype=torch.float16)
        held("aqlm 1.1.7", f"{books}x{bits}", replace(tiny(), make),
             {"quant_method": "aqlm", "in_group_size": 8, "out_group_size": 1,
              "num_codebooks": books, "nbits_per_codebook": bits,
              "linear_weights_not_to_quantize": ["lm_head.weight"]})


def fp8():
    from transformers.integrations.finegrained_fp8 import FP8Linear
    for block, scheme in (((128, 128), "dynamic"), (None, "static")):
        def make(layer, block=block, scheme=scheme):
            return FP8Linear(layer.in_features, layer.out_features,
                             block_size=block, activation_scheme=scheme)
        held(version("transformers"), f"FP8 {scheme}", replace(tiny(), make),
             {"quant_method": "fp8", "activation_scheme": scheme,
              "weight_block_size": block,
              "modules_to_not_convert": ["lm_head"]})


def modelopt():
    import modelopt.torch.quantization as mtq
    from modelopt.torch.export import export_hf_checkpoint
    for name in ("FP8_DEFAULT_CFG", "NVFP4_DEFAULT_CFG"):
        def save(folder, name=name):
            model = tiny()
            model.config.architectures = ["LlamaForCausalLM"]
            ids = torch.arange(8).reshape(1, 8)
            mtq.quantize(model, getattr(mtq, name), lambda m: m(ids))
            export_hf_checkpoint(model, export_dir=folder)
        saved("nvidia-modelopt 0.47.0", name, save)


def bitnet():
    from transformers.integrations.bitnet import BitLinear
    def make(layer):
        return BitLinear(layer.in_features, layer.out_features, bias=False,
                         dtype=torch.bfloat16)
    held(version("transformers"), "BitNet", replace(tiny(), make),
         {"quant_method": "bitnet", "linear_class": "bitlinear",
          "modules_to_not_convert": ["lm_head"]})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sources", type=pathlib.Path, default=".",
                        help="a folder of the libraries' unpacked sources")
    args = parser.parse_args()
    sys.stdout = sys.stderr  # some libraries greet
    for folder in sorted(args.sources.iterdir()):
        if folder.is_dir():
            sys.path.append(str(folder))
    for case in (bitsandbytes, compressed_tensors, hqq, gptqmodel, autoawq,
                 auto_round, aqlm, bitnet, fp8, modelopt):
        try:
            case()
        except Exception as error:  # a library that cannot be loaded here
            print(f"left out: {case.__name__}: {type(error).__name__}: "
                  f"{str(error)[:300]}", file=sys.stderr)


if __name__ == "__main__":
    main()
