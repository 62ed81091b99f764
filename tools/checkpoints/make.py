#!/usr/bin/env python3
"""Writes tests/truth/checkpoints.jsonl: headers that the real libraries wrote.

    python tools/checkpoints/make.py tests/truth/checkpoints.jsonl [LLAMA_CPP]

Needs torch, transformers 5.23, safetensors, gguf, onnx and numpy. With the
folder of llama.cpp's sources, its converter makes GGUF files of the tiny models
too; their vocabularies are left out, since they have none. Each row is
one file: a tiny model of a family, or a few tensors of every type of a format,
written by the format's own library and read back by it.

    case      what it is
    format    safetensors, GGUF, PyTorch or ONNX
    name      the file's name
    config    the model's configuration, where it is a model's
    bytes     of the whole file
    pieces    [offset, base64] of its parts that are not zeros
    tensors   [name, dtype, shape, bytes], as the library reads them back

Weights are zeros, so that the pieces are a file's headers.
"""

import base64
import io
import json
import pathlib
import re
import sys
import tempfile

import numpy
import torch

DECODER = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2,
               num_attention_heads=4, num_key_value_heads=2, vocab_size=96,
               max_position_embeddings=64)
MOE = dict(DECODER, num_experts=4, num_local_experts=4, num_experts_per_tok=2,
           moe_intermediate_size=16)
MODELS = [
    ("LlamaForCausalLM", "LlamaConfig", DECODER),
    ("Qwen2ForCausalLM", "Qwen2Config", dict(DECODER, tie_word_embeddings=True)),
    ("Qwen3MoeForCausalLM", "Qwen3MoeConfig", dict(MOE, head_dim=8)),
    ("MixtralForCausalLM", "MixtralConfig", MOE),
    ("Gemma2ForCausalLM", "Gemma2Config", dict(DECODER, head_dim=8)),
    ("Phi3ForCausalLM", "Phi3Config", dict(DECODER, pad_token_id=0)),
    ("GptOssForCausalLM", "GptOssConfig", dict(MOE, head_dim=8)),
    ("DeepseekV3ForCausalLM", "DeepseekV3Config",
     dict(DECODER, num_key_value_heads=4, n_routed_experts=4,
          num_experts_per_tok=2, moe_intermediate_size=16, n_group=2,
          topk_group=1, first_k_dense_replace=1, q_lora_rank=16,
          kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8,
          v_head_dim=8)),
    ("GraniteMoeForCausalLM", "GraniteMoeConfig", MOE),
    ("PhimoeForCausalLM", "PhimoeConfig", MOE),
    ("Glm4MoeForCausalLM", "Glm4MoeConfig",
     dict(DECODER, n_routed_experts=4, num_experts_per_tok=2,
          moe_intermediate_size=16, n_group=1, topk_group=1,
          first_k_dense_replace=1, head_dim=8)),
    ("GPT2LMHeadModel", "GPT2Config",
     dict(n_embd=32, n_layer=2, n_head=4, vocab_size=96, n_positions=64,
          n_ctx=64)),
    ("BertForMaskedLM", "BertConfig", DECODER),
    ("T5ForConditionalGeneration", "T5Config",
     dict(d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4,
          vocab_size=96)),
    ("MambaForCausalLM", "MambaConfig",
     dict(hidden_size=32, state_size=4, num_hidden_layers=2, vocab_size=96)),
]

# Beside MODELS, for llama.cpp's converter alone.
GGUF_MODELS = [
    ("Qwen3ForCausalLM", "Qwen3Config", dict(DECODER, head_dim=8)),
    ("Qwen2MoeForCausalLM", "Qwen2MoeConfig",
     dict(MOE, shared_expert_intermediate_size=32)),
    ("GemmaForCausalLM", "GemmaConfig", dict(DECODER, head_dim=16)),
    ("PhiForCausalLM", "PhiConfig", dict(DECODER, num_key_value_heads=4)),
    ("DeepseekV2ForCausalLM", "DeepseekV2Config",
     dict(DECODER, num_key_value_heads=4, n_routed_experts=4,
          num_experts_per_tok=2, moe_intermediate_size=16, n_shared_experts=1,
          n_group=1, topk_group=1, first_k_dense_replace=1, q_lora_rank=None,
          kv_lora_rank=16, qk_rope_head_dim=8, qk_nope_head_dim=8,
          v_head_dim=8)),
    ("Glm4ForCausalLM", "Glm4Config", dict(DECODER, head_dim=8,
                                           pad_token_id=0)),
    ("Olmo2ForCausalLM", "Olmo2Config", DECODER),
    ("OlmoeForCausalLM", "OlmoeConfig", MOE),
    ("GraniteForCausalLM", "GraniteConfig", DECODER),
    ("Starcoder2ForCausalLM", "Starcoder2Config", DECODER),
    ("StableLmForCausalLM", "StableLmConfig", DECODER),
    ("CohereForCausalLM", "CohereConfig", DECODER),
    ("SmolLM3ForCausalLM", "SmolLM3Config", dict(DECODER, pad_token_id=0)),
    ("SeedOssForCausalLM", "SeedOssConfig", dict(DECODER, head_dim=8)),
    ("Exaone4ForCausalLM", "Exaone4Config", DECODER),
]
# Of MODELS: no converter, or keys that tiny models lack.
NOT_CONVERTED = {"PhimoeForCausalLM", "T5ForConditionalGeneration",
                 "BertForMaskedLM"}


def pieces(data):
    """What lies between runs of 64 zeros and more."""
    out = []
    for part in re.finditer(rb"(?s)[^\0](?:(?!\0{64}).)*", data):
        out.append([part.start(), base64.b64encode(part.group()).decode()])
    return out


def safetensors_row(case, path, config=None):
    from safetensors import safe_open
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    tensors = []
    with safe_open(path, "pt") as file:
        keys = file.keys()
        header = json.loads(data[8:8 + length])
        for name in keys:
            piece = file.get_slice(name)
            begin, end = header[name]["data_offsets"]
            tensors.append([name, piece.get_dtype(), list(piece.get_shape()),
                            end - begin])
    return dict(case=case, format="safetensors", name=path.name, config=config,
                bytes=len(data), pieces=pieces(data),
                tensors=sorted(tensors))


def torch_row(case, path, config=None):
    tensors = []
    for name, value in torch.load(path, weights_only=False).items():
        tensors.append([name, str(value.dtype).removeprefix("torch."),
                        list(value.shape), value.numel() * value.itemsize])
    data = path.read_bytes()
    return dict(case=case, format="PyTorch", name=path.name, config=config,
                bytes=len(data), pieces=pieces(data), tensors=sorted(tensors))


def gguf_row(case, path, endian="little"):
    import gguf
    reader = gguf.GGUFReader(path)
    tensors = [[t.name, t.tensor_type.name,
                [int(n) for n in reversed(t.shape.tolist())], int(t.n_bytes)]
               for t in reader.tensors]
    data = path.read_bytes()
    return dict(case=case, format="GGUF", name=path.name, config=None,
                bytes=len(data), pieces=pieces(data),
                tensors=sorted(tensors))


def onnx_row(case, path):
    import onnx
    from onnx import numpy_helper  # noqa: F401
    model = onnx.load(path, load_external_data=False)
    tensors = []
    for t in model.graph.initializer:
        elements = 1
        for extent in t.dims:
            elements *= extent
        name = onnx.TensorProto.DataType.Name(t.data_type)
        bits = {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4}.get(name)
        if bits is None:
            bits = 8 * onnx.helper.tensor_dtype_to_np_dtype(
                t.data_type).itemsize
        tensors.append([t.name, name, list(t.dims), (elements * bits + 7) // 8])
    data = path.read_bytes()
    return dict(case=case, format="ONNX", name=path.name, config=None,
                bytes=len(data), pieces=pieces(data), tensors=sorted(tensors))


def save_model(target, class_name, config_name, values):
    import transformers
    config = getattr(transformers, config_name)(**values)
    model = getattr(transformers, class_name)(config)
    with torch.no_grad():
        for value in model.parameters():
            value.data = value.data.to(torch.bfloat16)
        for value in list(model.parameters()) + list(model.buffers()):
            value.zero_()
    model.config.dtype = torch.bfloat16
    model.save_pretrained(target)
    return model, json.loads((target / "config.json").read_text())


def converted_row(folder, source, class_name):
    """What llama.cpp's converter makes of a saved model."""
    import gguf
    from conversion import (ModelBase, ModelType, get_model_architecture,
                            get_model_class)
    values = ModelBase.load_hparams(source, False)
    cls = get_model_class(get_model_architecture(values, ModelType.TEXT))
    cls.set_vocab = lambda self: None
    path = folder / (class_name + ".gguf")
    cls(source, gguf.LlamaFileType.MOSTLY_Q8_0, path, hparams=values).write()
    return gguf_row(class_name + ", converted", path)


def gguf_model_rows(folder):
    for row in MODELS + GGUF_MODELS:
        class_name = row[0]
        if class_name in NOT_CONVERTED:
            continue
        source = folder / (class_name + "-source")
        save_model(source, *row)
        try:
            row = converted_row(folder, source, class_name)
        except (KeyError, OSError, NotImplementedError) as error:
            # Most often a tokenizer that a tiny model lacks.
            print(f"left out: {class_name}: {error!r}", file=sys.stderr)
            continue
        yield row


def model_rows(folder):
    for class_name, config_name, values in MODELS:
        target = folder / class_name
        model, written = save_model(target, class_name, config_name, values)
        yield safetensors_row(class_name, target / "model.safetensors", written)
        if class_name == "Qwen2ForCausalLM":
            path = folder / (class_name + ".bin")
            torch.save(model.state_dict(), path)
            yield torch_row(class_name + ", torch.save", path, written)


def safetensors_types(folder):
    from safetensors.torch import save_file
    dtypes = ["bool", "uint8", "int8", "float8_e5m2", "float8_e4m3fn",
              "float8_e8m0fnu", "int16", "uint16", "float16", "bfloat16",
              "int32", "uint32", "float32", "complex64", "float64", "int64",
              "uint64"]
    tensors = {f"a.{name}": torch.zeros(3, 4).to(getattr(torch, name))
               for name in dtypes}
    tensors["empty"] = torch.zeros(0, 5)
    tensors["scalar"] = torch.zeros(())
    path = folder / "types.safetensors"
    save_file(tensors, path, metadata={"format": "pt", "a key": "a \"text\""})
    yield safetensors_row("every type", path)


def torch_types(folder):
    dtypes = ["bool", "uint8", "int8", "float8_e5m2", "float8_e4m3fn", "int16",
              "uint16", "float16", "bfloat16", "int32", "uint32", "float32",
              "complex64", "complex128", "float64", "int64", "uint64"]
    tensors = {f"a.{name}": torch.zeros(3, 4).to(getattr(torch, name))
               for name in dtypes}
    tensors["tied"] = tensors["a.float32"]
    tensors["view"] = tensors["a.bfloat16"].t()[1:]
    tensors["parameter"] = torch.nn.Parameter(torch.zeros(2))
    tensors["scalar"] = torch.zeros(())
    path = folder / "types.bin"
    torch.save(tensors, path)
    yield torch_row("every type", path)
    path = folder / "protocol4.bin"
    torch.save(tensors, path, pickle_protocol=4)
    yield torch_row("every type, pickle protocol 4", path)
    path = folder / "legacy.bin"
    # torch 2.15 cannot load what it saves so of the newer types.
    torch.save({k: v for k, v in tensors.items()
                if "8" not in k and "uint" not in k}, path,
               _use_new_zipfile_serialization=False)
    yield torch_row("every type, before torch 1.6", path)


def gguf_types(folder):
    import gguf
    for endian in (gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG):
        path = folder / f"types-{endian.name.lower()}.gguf"
        writer = gguf.GGUFWriter(path, "llama", endianess=endian)
        writer.add_block_count(2)
        writer.add_uint8("a.uint8", 200)
        writer.add_int8("a.int8", -100)
        writer.add_uint16("a.uint16", 60000)
        writer.add_int16("a.int16", -30000)
        writer.add_uint32("a.uint32", 4000000000)
        writer.add_int32("a.int32", -2000000000)
        writer.add_uint64("a.uint64", 1 << 60)
        writer.add_int64("a.int64", -(1 << 60))
        writer.add_float32("a.float32", 0.5)
        writer.add_float64("a.float64", 1e-300)
        writer.add_bool("a.bool", True)
        writer.add_string("a.string", "text \N{GREEK SMALL LETTER ALPHA}")
        writer.add_array("a.numbers", [8, 8, 4])
        writer.add_array("a.texts", ["one", "two"])
        writer.add_array("a.bools", [True, False])
        for kind in gguf.GGMLQuantizationType:
            block, size = gguf.GGML_QUANT_SIZES[kind]
            # ggml's block_q8_1 has 36 bytes, gguf-py writes 40; no file of a
            # model holds that type.
            if kind.name in ("Q8_1", "Q8_K"):
                continue
            data = numpy.zeros((3, 2 * size), numpy.uint8)
            if kind.name == "F32":
                data = numpy.zeros((3, 2), numpy.float32)
            elif kind.name == "F16":
                data = numpy.zeros((3, 2), numpy.float16)
            writer.add_tensor("t." + kind.name, data, raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        yield gguf_row(f"every type, {endian.name.lower()}-endian", path)


def gguf_split(folder):
    import gguf
    path = folder / "split.gguf"
    writer = gguf.GGUFWriter(path, "llama", split_max_tensors=2)
    for i in range(5):
        writer.add_tensor(f"t.{i}", numpy.zeros((2, 32), numpy.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    for part in sorted(folder.glob("split-*.gguf")):
        yield gguf_row("split", part)


def onnx_types(folder):
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    values = [numpy_helper.from_array(numpy.zeros((3, 4), dtype), "a." + name)
              for name, dtype in [("float32", numpy.float32),
                                  ("float16", numpy.float16),
                                  ("int64", numpy.int64),
                                  ("bool", numpy.bool_),
                                  ("float64", numpy.float64)]]
    values.append(helper.make_tensor("a.bfloat16", TensorProto.BFLOAT16, [2],
                                     [1.0, 2.0]))
    values.append(helper.make_tensor("typed", TensorProto.FLOAT, [3],
                                     [1.0, 2.0, 3.0]))
    graph = helper.make_graph([helper.make_node("Identity", ["typed"], ["y"])],
                              "g", [], [helper.make_tensor_value_info(
                                  "y", TensorProto.FLOAT, [3])], values)
    path = folder / "types.onnx"
    onnx.save(helper.make_model(graph), path)
    yield onnx_row("every kind", path)


def main():
    target = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        # Its own gguf-py goes before the package of that name.
        sys.path[:0] = [sys.argv[2], sys.argv[2] + "/gguf-py"]
    torch.manual_seed(0)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        makers = [safetensors_types, torch_types, gguf_types, gguf_split,
                  onnx_types, model_rows]
        if len(sys.argv) > 2:
            makers.append(gguf_model_rows)
        for make in makers:
            rows += list(make(folder))
    out = io.StringIO()
    for row in rows:
        out.write(json.dumps(row, ensure_ascii=False) + "\n")
    target.write_text(out.getvalue())
    print(f"{len(rows)} rows, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
