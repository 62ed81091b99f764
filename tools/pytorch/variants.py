#!/usr/bin/env python3
"""Record the parameters of many classes and variants of the model families.

    variants.py OUT.jsonl --configs DIR [--recorded FILE] [--only FAMILY]

A row is what `record.py params` prints, with the case that made it; a class that refuses its configuration leaves a row
with "error", the first 200 characters of what it says. DIR holds configuration files, named as in a row's "config".
Families: those of the table FAMILIES. For each: every class on two layers; the changes that
decide about names, shapes, ties and buffers; those that look as if they did and do not; those that are refused; and,
as published, each configuration of the family in DIR that FILE (rows of `record.py batch`) does not have.

Read the tables as: (class or None for the configuration's own, edit, over). The edit list of a row follows the family's
shallow one. Rows come in the order of the tables, and the same rows come back from the same library.
"""
import argparse
import hashlib
import json
import logging
import os
import pathlib
import sys

if os.environ.get("PYTHONHASHSEED") != "0":  # sets are printed in the errors: in one order
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PYTHONHASHSEED": "0"})
import record  # noqa: E402

HEADS = ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
YARN = '{"rope_type":"yarn","factor":4.0,"original_max_position_embeddings":8192}'
LLAMA3 = '{"rope_type":"llama3","factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":8192}'


def longrope(n, more=""):
    ones = json.dumps([1.0] * n, separators=(",", ":"))
    return f'{{"rope_type":"longrope","short_factor":{ones},"long_factor":{ones},"original_max_position_embeddings":4096{more}}}'


# What every family answers alike: labels, types, the way to the class.
def labels(one, names):
    return [(c, "num_labels=5", None) for c in names] + [
        (one, 'id2label={"0":"a","1":"b","2":"c"}', None),
        (one, 'id2label={"0":"a","1":"b","2":"c"},num_labels=7', None),
        (one, "num_labels=0", None),
        (one, "num_labels=null", None),
        (one, "id2label=null,num_labels=1", None),
        (one, 'num_labels=1,problem_type="single_label_classification"', None),
        (one, 'num_labels=1,problem_type="regression"', None),
        (one, 'problem_type="ranking"', None),
        (one, None, "num_labels=4"),
    ]


GPT2 = [(c, None, None) for c in ("GPT2Model", "GPT2LMHeadModel", "GPT2DoubleHeadsModel", "GPT2ForSequenceClassification",
                                  "GPT2ForTokenClassification", "GPT2ForQuestionAnswering")]
GPT2 += labels("GPT2ForSequenceClassification", ("GPT2ForSequenceClassification", "GPT2ForTokenClassification",
                                                 "GPT2ForQuestionAnswering", "GPT2DoubleHeadsModel"))
GPT2 += [
    (None, "n_inner=1000", None), (None, "n_inner=0", None), (None, "n_inner=null", None),
    (None, "add_cross_attention=true", None), ("GPT2Model", "add_cross_attention=true,is_decoder=true", None),
    (None, "scale_attn_by_inverse_layer_idx=true,reorder_and_upcast_attn=true,scale_attn_weights=false", None),
    (None, "tie_word_embeddings=false", None), ("GPT2DoubleHeadsModel", "tie_word_embeddings=false", None),
    ("GPT2Model", "tie_word_embeddings=false", None),
    ("GPT2DoubleHeadsModel", "summary_use_proj=false", None), ("GPT2DoubleHeadsModel", "summary_proj_to_labels=false", None),
    ("GPT2DoubleHeadsModel", 'summary_type="attn"', None), ("GPT2DoubleHeadsModel", 'summary_activation="tanh"', None),
    ("GPT2DoubleHeadsModel", 'summary_activation="nosuch"', None),
    (None, "n_head=7", None), (None, "n_head=7,n_layer=0", None), (None, "n_head=0", None), (None, "n_layer=-1", None),
    (None, "vocab_size=50259", None), (None, "pad_token_id=60000", None), (None, "n_ctx=512", None), (None, "n_positions=512", None),
    (None, "n_embd=96,n_head=4,n_positions=33,vocab_size=101", None),
    (None, "hidden_size=384", None), (None, "-n_embd,hidden_size=384", None), (None, "num_hidden_layers=3", None),
    (None, "max_position_embeddings=77", None), (None, "num_attention_heads=6", None), (None, "intermediate_size=100", None),
    (None, "-n_embd,-n_head,-n_positions,-vocab_size", None), (None, "-n_layer", None),
    (None, "n_embd=0", None), (None, "n_positions=-1", None), (None, "n_positions=0", None), (None, 'to_dict=3', None), (None, 'text_config={"n_embd":5}', None),
    ("GPT2ForSequenceClassification", 'id2label={"0":"a"},num_labels=2,problem_type="single_label_classification"', None),
    (None, "n_embd=null", None), (None, "vocab_size=null", None), (None, "n_layer=2.0", None), (None, "n_layer=true", None),
    (None, 'n_layer="2"', None), (None, "layer_norm_epsilon=1", None), (None, "attn_pdrop=0", None), (None, "use_cache=1", None),
    (None, 'activation_function="relu"', None), (None, 'activation_function="nosuch"', None),
    (None, "is_encoder_decoder=true", None), (None, "chunk_size_feed_forward=16", None), (None, 'pruned_heads={"0":[1,2]}', None),
    (None, "use_return_dict=true", None), (None, "output_attentions=true", None), (None, "is_encoder_decoder=null", None),
    ("GPT2ForSequenceClassification", 'id2label={"x":"a"}', None), ("GPT2ForSequenceClassification", 'id2label=["a","b"]', None),
    ("GPT2ForSequenceClassification", 'id2label={"0":"a","1":"b","2":"c"},num_labels=null', None),
    ("GPT2ForSequenceClassification", "num_labels=2.5", None), ("GPT2ForSequenceClassification", "num_labels=-3", None),
    (None, 'torch_dtype="float16"', None), (None, 'torch_dtype="int8"', None), (None, 'torch_dtype="auto"', None),
    (None, "-model_type", None), (None, "-model_type,-architectures", None), (None, '-model_type,architectures=["NoSuch"]', None),
    (None, 'architectures=["GPT2Model"]', None), (None, 'architectures=["NoSuch","GPT2Model"]', None), (None, "architectures=null", None),
    (None, 'architectures=["NoSuch"]', None), (None, 'model_type="nosuch"', None), ("NoSuchModel", None, None),
    (None, 'quantization_config={"quant_method":"gptq","bits":4}', None),
    (None, None, "n_embd=384"), (None, None, "hidden_size=384,num_hidden_layers=1"), (None, None, "n_head=7"),
    (None, None, "n_inner=3.5"), (None, None, "nosuch=3"), (None, None, "tie_word_embeddings=false,add_cross_attention=true"),
]

LLAMA = [("Llama" + c, None, None) for c in HEADS]
LLAMA += labels("LlamaForSequenceClassification", ("LlamaForSequenceClassification", "LlamaForTokenClassification", "LlamaForQuestionAnswering"))
LLAMA += [
    (None, "tie_word_embeddings=false", None), (None, "-tie_word_embeddings", None),
    ("LlamaModel", "tie_word_embeddings=false", None), ("LlamaForSequenceClassification", "tie_word_embeddings=false", None),
    (None, "attention_bias=true", None), (None, "mlp_bias=true", None), ("LlamaModel", "attention_bias=true,mlp_bias=true", None),
    (None, "-attention_bias,-mlp_bias", None), (None, "attention_bias=null", None), (None, "mlp_bias=1", None),
    (None, "num_key_value_heads=null", None), (None, "-num_key_value_heads", None), (None, "num_key_value_heads=1", None),
    (None, "num_key_value_heads=5", None), (None, "num_key_value_heads=0", None),
    (None, "head_dim=null", None), (None, "-head_dim", None), (None, "head_dim=128", None), (None, "head_dim=33", None),
    (None, "head_dim=3,-rope_scaling", None), (None, "head_dim=0", None),
    (None, "hidden_size=2047", None), (None, "num_attention_heads=30", None), (None, "num_attention_heads=0", None),
    (None, "hidden_size=96,num_attention_heads=6,num_key_value_heads=2,-head_dim,intermediate_size=131,vocab_size=257", None),
    (None, "-hidden_size,-intermediate_size,-num_attention_heads,-num_key_value_heads,-head_dim,-vocab_size", None),
    (None, "-rope_scaling", None), (None, "rope_scaling=null,rope_theta=null", None), (None, "-rope_scaling,-rope_theta", None),
    (None, 'rope_scaling={"type":"linear","factor":2.0}', None), (None, 'rope_scaling={"rope_type":"dynamic","factor":2.0}', None),
    (None, f"rope_scaling={YARN}", None), (None, f"rope_scaling={LLAMA3}", None), (None, f"rope_scaling={longrope(32)}", None),
    (None, f"rope_scaling={longrope(32, ',' + chr(34) + 'factor' + chr(34) + ':8.0')},original_max_position_embeddings=2048", None),
    (None, f"rope_scaling={longrope(16)}", None), (None, f"rope_scaling={longrope(1)}", None),
    (None, f"rope_scaling={longrope(16)},partial_rotary_factor=0.5", None),
    (None, 'rope_scaling={"rope_type":"proportional","partial_rotary_factor":0.25}', None),
    (None, 'rope_scaling={"rope_type":"longrope","factor":8.0}', None),
    (None, 'rope_scaling={"rope_type":"longrope","short_factor":null,"long_factor":null}', None),
    (None, 'rope_scaling={"rope_type":"linear"}', None), (None, 'rope_scaling={"rope_type":"linear","factor":null}', None),
    (None, 'rope_scaling={"rope_type":"linear","factor":0.5}', None),
    (None, 'rope_scaling={"rope_type":"dynamic"}', None), (None, 'rope_scaling={"rope_type":"yarn"}', None),
    (None, 'rope_scaling={"rope_type":"yarn","factor":2.0}', None), (None, 'rope_scaling={"rope_type":"yarn","factor":null}', None),
    (None, 'rope_scaling={"rope_type":"llama3","factor":8.0}', None),
    (None, 'rope_scaling={"rope_type":"llama3","factor":8.0,"low_freq_factor":null,"high_freq_factor":4.0}', None),
    (None, 'rope_scaling={"rope_type":"su","factor":2.0}', None), (None, 'rope_scaling={"rope_type":"mrope","mrope_section":[16,8,8]}', None),
    (None, 'rope_scaling={"rope_type":"default"}', None), (None, "rope_scaling={}", None), (None, 'rope_scaling="linear"', None),
    (None, '-rope_scaling,rope_parameters={"rope_theta":1000.0,"rope_type":"linear","factor":2.0}', None),
    (None, 'rope_parameters={"rope_theta":1000.0,"rope_type":"default"}', None), (None, "rope_parameters=7", None),
    (None, "-rope_scaling,partial_rotary_factor=0.5", None), (None, 'rope_scaling={"type":"linear","factor":2.0},partial_rotary_factor=0.5', None),
    (None, f"rope_scaling={YARN},partial_rotary_factor=0.5,head_dim=34", None),
    (None, 'rope_scaling={"rope_type":"linear","factor":2.0,"partial_rotary_factor":0.5},head_dim=33', None),
    (None, 'layer_types=["full_attention","full_attention"],rope_parameters={"full_attention":{"rope_type":"linear","factor":2.0}},-rope_scaling', None),
    (None, "pad_token_id=128256", None), (None, "pad_token_id=-1", None), (None, "pad_token_id=-128257", None), (None, "pad_token_id=128255", None),
    (None, "pad_token_id=1.5", None), (None, "vocab_size=32003", None), (None, "vocab_size=0", None),
    (None, "vocab_size=-1", None), (None, "intermediate_size=0", None), (None, "intermediate_size=-4", None), (None, "num_key_value_heads=-2", None),
    (None, "num_attention_heads=-32", None), (None, 'rope_theta="x"', None), (None, "max_position_embeddings=0", None),
    (None, "num_hidden_layers=0", None), (None, "num_hidden_layers=-2", None), (None, "num_hidden_layers=true", None), (None, "hidden_size=2048.0", None),
    (None, 'hidden_act="gelu"', None), (None, 'hidden_act="nosuch"', None), (None, 'hidden_act="nosuch",num_hidden_layers=0', None),
    (None, 'layer_types=["full_attention","sliding_attention"]', None), (None, 'layer_types=["full_attention"]', None),
    (None, 'layer_types=["attention","mamba"]', None), (None, 'layer_types=["full_attention","nosuch"]', None), (None, "layer_types=null", None),
    (None, "initializer_range=2.0", None), (None, "initializer_range=0", None), (None, "rms_norm_eps=1", None), (None, "pretraining_tp=2", None),
    (None, "sliding_window=128,n_ctx=7,n_positions=9,max_position_embeddings=512", None), (None, 'eos_token_id="2"', None),
    (None, 'per_layer_config={"1":{"intermediate_size":100}}', None), (None, "chunk_size_feed_forward=null,is_encoder_decoder=3", None),
    (None, "rope_theta=10000", None), (None, 'rope_scaling={"type":"dynamic","rope_type":"linear","factor":2.0}', None),
    (None, 'rope_scaling={"type":"yarn","factor":2.0},original_max_position_embeddings=0', None),
    ("LlamaForTokenClassification", "token_classification_bias=false", None),
    (None, 'torch_dtype="float32"', None), (None, 'dtype="float16",torch_dtype="bfloat16"', None),
    (None, 'architectures=["LLaMAForCausalLM"]', None), (None, 'architectures=["LlamaModel"]', None), (None, "-architectures", None), (None, "-model_type", None),
    (None, 'architectures=["MistralForCausalLM"]', None), (None, 'architectures=["Qwen2ForCausalLM"]', None), ("BertModel", None, None),
    (None, 'auto_map={"AutoConfig":"configuration_x.XConfig"}', None),
    (None, 'model_type="nosuch",auto_map={"AutoConfig":"configuration_x.XConfig"}', None),
    (None, None, "num_hidden_layers=3"), (None, None, "hidden_size=1024"), (None, None, "hidden_size=2047"), (None, None, "num_attention_heads=16"),
    (None, None, "num_key_value_heads=null"), (None, None, "num_key_value_heads=2"), (None, None, "head_dim=null"), (None, None, "head_dim=33"),
    (None, None, "attention_bias=true,mlp_bias=true,tie_word_embeddings=false"), (None, None, "attention_bias=null"),
    (None, None, f"rope_parameters={YARN[:-1]},\"rope_theta\":10000.0}}"), (None, None, 'rope_parameters.rope_type="linear"'),
    (None, None, 'rope_parameters.rope_type="yarn",rope_parameters.factor=2.0'), (None, None, 'rope_scaling={"rope_type":"linear","factor":2.0,"rope_theta":10000.0}'),
    (None, None, "rope_parameters=null"), (None, None, "vocab_size=7"), (None, None, "rope_parameters.partial_rotary_factor=0.25"),
]

MISTRAL = [("Mistral" + c, None, None) for c in HEADS]
MISTRAL += [("MistralForSequenceClassification", "num_labels=5", None), ("MistralForTokenClassification", "num_labels=5", None),
            ("MistralForQuestionAnswering", "num_labels=5", None)]
MISTRAL += [
    (None, "tie_word_embeddings=true", None), (None, "num_key_value_heads=null", None), (None, "-num_key_value_heads", None), (None, "num_key_value_heads=32", None),
    (None, "num_key_value_heads=5", None), (None, "head_dim=null", None), (None, "head_dim=64", None), (None, "head_dim=0", None), (None, "head_dim=127", None),
    (None, "hidden_size=4100", None), (None, "hidden_size=4095", None), (None, "num_attention_heads=24", None),
    (None, "sliding_window=1024", None), (None, "-sliding_window", None), (None, "attention_bias=true,mlp_bias=true", None),
    (None, 'layer_types=["full_attention","sliding_attention"]', None), (None, '-architectures,layer_types=["full_attention","sliding_attention"]', None),
    (None, '-architectures,head_dim=128,layer_types=["full_attention","sliding_attention"]', None),
    (None, "layer_types=null", None), (None, f"rope_scaling={YARN}", None), (None, 'rope_scaling={"type":"dynamic","factor":2.0}', None),
    (None, 'rope_scaling={"type":"dynamic","factor":2.0}', "head_dim=null"), (None, "pad_token_id=32768", None), (None, "intermediate_size=null", None), (None, "rms_norm_eps=null", None), (None, "-architectures", None),
    (None, None, "head_dim=null"), (None, None, "num_key_value_heads=null"), (None, None, "hidden_size=2048"), (None, None, "tie_word_embeddings=true"),
    (None, "hidden_size=128,num_attention_heads=4,num_key_value_heads=2,intermediate_size=77,vocab_size=99", None),
]

QWEN2 = [("Qwen2" + c, None, None) for c in HEADS]
QWEN2 += [("Qwen2ForSequenceClassification", "num_labels=5", None), ("Qwen2ForTokenClassification", "num_labels=5", None),
          ("Qwen2ForQuestionAnswering", "num_labels=5", None)]
QWEN2 += [
    (None, "tie_word_embeddings=false", None), (None, "num_key_value_heads=null", None), (None, "-num_key_value_heads", None), (None, "num_key_value_heads=7", None),
    (None, "head_dim=128", None), (None, "head_dim=null", None), (None, "head_dim=65", None), (None, "num_attention_heads=13", None), (None, "hidden_size=900", None),
    (None, "use_sliding_window=true,sliding_window=100,max_window_layers=1", None), (None, "use_sliding_window=true,sliding_window=null", None),
    (None, 'layer_types=["sliding_attention","full_attention"]', None), (None, 'layer_types=["full_attention"]', None), (None, 'layer_types=["x","y"]', None),
    (None, "layer_types=null", None), (None, "max_window_layers=null", None), (None, "attention_bias=false,qkv_bias=false,mlp_bias=true", None),
    (None, f"rope_scaling={YARN}", None), (None, 'rope_scaling={"type":"dynamic","factor":2.0}', None),
    (None, 'rope_parameters={"full_attention":{"rope_type":"default","rope_theta":10000.0}}', None), (None, "pad_token_id=151936", None),
    (None, "-architectures", None), (None, "-model_type", None), (None, "use_sliding_window=null", None),
    (None, None, "num_hidden_layers=1"), (None, None, "num_hidden_layers=5"), (None, None, 'num_hidden_layers=3,layer_types=["full_attention","full_attention","full_attention"]'),
    (None, None, "head_dim=32"), (None, None, "hidden_size=448"), (None, None, "num_key_value_heads=null"), ("Qwen2RMSNorm", None, None),
    ("LlamaForCausalLM", None, None),
]

QWEN3 = [("Qwen3" + c, None, None) for c in HEADS]
QWEN3 += [("Qwen3ForSequenceClassification", "num_labels=5", None), ("Qwen3ForTokenClassification", "num_labels=5", None),
          ("Qwen3ForQuestionAnswering", "num_labels=5", None)]
QWEN3 += [
    (None, "tie_word_embeddings=false", None), (None, "attention_bias=true", None), ("Qwen3Model", "attention_bias=true,mlp_bias=true", None),
    (None, "head_dim=null", None), (None, "-head_dim", None), (None, "head_dim=64", None), (None, "head_dim=127", None), (None, "hidden_size=1000,num_attention_heads=7", None),
    (None, "num_key_value_heads=null", None), (None, "-num_key_value_heads", None), (None, "num_key_value_heads=3", None),
    (None, "use_sliding_window=true,sliding_window=100,max_window_layers=1", None), (None, 'layer_types=["sliding_attention","full_attention"]', None),
    (None, 'layer_types=["full_attention","full_attention","full_attention"]', None), (None, "use_qk_norm=false", None),
    (None, f"rope_scaling={YARN}", None), (None, f"rope_scaling={longrope(64)}", None), (None, 'rope_scaling={"type":"yarn"}', None),
    (None, "pad_token_id=151936", None), (None, "-architectures", None),
    (None, None, "head_dim=64"), (None, None, "head_dim=null"), (None, None, "num_hidden_layers=4"), (None, None, "hidden_size=512"),
]

MIXTRAL = [("Mixtral" + c, None, None) for c in HEADS]
MIXTRAL += [("MixtralForSequenceClassification", "num_labels=5", None), ("MixtralForTokenClassification", "num_labels=5", None),
            ("MixtralForQuestionAnswering", "num_labels=5", None)]
MIXTRAL += [
    (None, "tie_word_embeddings=true", None), (None, "num_local_experts=4", None), (None, "num_local_experts=1", None), (None, "num_local_experts=0", None),
    (None, "num_experts=3", None), (None, "-num_local_experts,num_experts=3", None), (None, "num_experts_per_tok=9", None), (None, "num_local_experts=null", None),
    (None, "num_key_value_heads=null", None), (None, "-num_key_value_heads", None), (None, "num_key_value_heads=2", None),
    (None, "head_dim=64", None), (None, "head_dim=null", None), (None, "head_dim=0", None), (None, "head_dim=99", None), (None, "hidden_size=4097", None),
    (None, "sliding_window=1024", None), (None, "attention_bias=true", None), (None, "-rope_theta", None), (None, f"rope_scaling={YARN}", None),
    (None, 'rope_scaling={"type":"linear","factor":2.0}', None), (None, 'rope_scaling={"type":"dynamic","factor":2.0}', None),
    (None, f"rope_scaling={LLAMA3}", None), (None, f"rope_scaling={longrope(64)}", None), (None, f"rope_scaling={longrope(64)},head_dim=128", None),
    (None, f"rope_scaling={YARN},head_dim=64", None), (None, 'rope_scaling={"rope_type":"proportional"}', None),
    (None, "pad_token_id=32000", None), (None, 'hidden_act="nosuch"', None),
    (None, "router_jitter_noise=0.1,output_router_logits=true", None), (None, "-architectures", None), (None, 'layer_types=["full_attention","full_attention"]', None),
    (None, None, "num_local_experts=2,hidden_size=64"), (None, None, "num_experts=2"), (None, None, "head_dim=32"),
]

QWEN3_MOE = [("Qwen3Moe" + c, None, None) for c in HEADS]
QWEN3_MOE += [("Qwen3MoeForSequenceClassification", "num_labels=5", None), ("Qwen3MoeForTokenClassification", "num_labels=5", None)]
QWEN3_MOE += [
    (None, "tie_word_embeddings=true", None), (None, "attention_bias=true", None), (None, "attention_bias=null", None),
    (None, "head_dim=null", None), (None, "-head_dim", None), (None, "head_dim=127", None), (None, "hidden_size=1000,num_attention_heads=7,-head_dim", None),
    (None, "num_key_value_heads=null", None), (None, "-num_key_value_heads", None), (None, "num_key_value_heads=3", None),
    (None, "num_experts=4", None), (None, "num_experts=0", None), (None, "num_experts=-1", None), (None, "num_experts=null", None),
    (None, "num_local_experts=3", None), (None, "-num_experts,num_local_experts=3", None), (None, "num_local_experts=null", None),
    (None, "moe_intermediate_size=100", None), (None, "-moe_intermediate_size,-intermediate_size", None),
    (None, "intermediate_size=100,mlp_only_layers=[0]", None), (None, "mlp_only_layers=[1]", None), (None, "mlp_only_layers=null", None),
    (None, "-mlp_only_layers", None), (None, "mlp_only_layers=[7,-1]", None), (None, 'mlp_only_layers=["0"]', None),
    (None, "decoder_sparse_step=2", None), (None, "decoder_sparse_step=0", None), (None, "decoder_sparse_step=-2", None),
    (None, "decoder_sparse_step=0,mlp_only_layers=[0,1]", None), (None, "decoder_sparse_step=2,mlp_only_layers=[1]", None), (None, "-decoder_sparse_step", None),
    (None, "norm_topk_prob=false,output_router_logits=true", None), (None, "router_aux_loss_coef=1", None),
    (None, "use_sliding_window=true,sliding_window=100", None), (None, "use_sliding_window=true,sliding_window=null", None), (None, "sliding_window=100", None),
    (None, "max_window_layers=null,use_qk_norm=false,mlp_bias=true", None), (None, 'layer_types=["sliding_attention","full_attention"]', None),
    (None, f"rope_scaling={YARN}", None), (None, f"rope_scaling={longrope(64)}", None), (None, 'rope_scaling={"rope_type":"yarn"}', None), (None, f"rope_scaling={YARN},-head_dim", None),
    (None, "-hidden_size,-num_attention_heads,-num_hidden_layers,-vocab_size,-head_dim", "num_hidden_layers=1"),
    (None, 'hidden_act="nosuch"', None), (None, "-architectures", None),
    (None, None, "num_experts=2"), (None, None, "num_local_experts=2"), (None, None, "head_dim=64"), (None, None, "head_dim=null"), (None, None, "num_hidden_layers=4"),
    (None, None, "mlp_only_layers=[0]"), (None, None, "decoder_sparse_step=2"),
]

GRANITEMOE = [(None, None, None), ("GraniteMoeModel", None, None)]
GRANITEMOE += [
    (None, "tie_word_embeddings=false,attention_bias=true", None), (None, "num_key_value_heads=null,num_local_experts=3", None), (None, "head_dim=32", None),
    (None, "num_local_experts=null", None), (None, "output_router_logits=null,attention_dropout=null", None), (None, "num_experts_per_tok=99", None),
    (None, 'rope_scaling={"type":"linear","factor":2.0}', None), (None, "-hidden_size,-intermediate_size,-num_attention_heads,-vocab_size,-num_local_experts", None),
]

QWEN2_MOE = [("Qwen2Moe" + c, None, None) for c in HEADS]
QWEN2_MOE += [
    (None, "qkv_bias=false,tie_word_embeddings=true", None), (None, "mlp_only_layers=[0],intermediate_size=100", None), (None, "decoder_sparse_step=2", None), (None, "num_experts=0", None),
    (None, "head_dim=32", None), (None, "num_key_value_heads=null", None), (None, "shared_expert_intermediate_size=64,moe_intermediate_size=32", None),
    (None, "use_sliding_window=true,sliding_window=16", None), (None, "use_sliding_window=true,sliding_window=null", None), (None, 'layer_types=["sliding_attention","full_attention"]', None),
    (None, "-hidden_size,-intermediate_size,-num_attention_heads,-vocab_size,-num_experts,-moe_intermediate_size,-shared_expert_intermediate_size", None),
]

GPT_OSS = [("GptOss" + c, None, None) for c in ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")]
GPT_OSS += [("GptOssForSequenceClassification", "num_labels=5", None), ("GptOssForTokenClassification", "num_labels=5", None)]
GPT_OSS += [
    (None, "tie_word_embeddings=true", None), (None, "attention_bias=false", None), (None, "-attention_bias", None),
    (None, "head_dim=null", None), (None, "head_dim=128", None), (None, "head_dim=63", None),
    (None, "num_key_value_heads=null", None), (None, "-num_key_value_heads", None), (None, "num_key_value_heads=5", None),
    (None, "num_attention_heads=30", None), (None, "-hidden_size,-intermediate_size,-num_attention_heads,-vocab_size", None), (None, "-num_hidden_layers,-layer_types", "num_hidden_layers=1"),
    (None, "num_local_experts=4", None), (None, "num_experts=3", None), (None, "-num_local_experts,num_experts=3", None), (None, "-num_local_experts", None), (None, "num_local_experts=0", None), (None, "num_local_experts=null", None),
    (None, "num_experts=null", None),
    (None, "intermediate_size=100", None), (None, "sliding_window=null", None), (None, "sliding_window=16", None),
    (None, "-layer_types", None), (None, "layer_types=null", None), (None, 'layer_types=["chunked_attention","full_attention"]', None), (None, 'layer_types=["x","y"]', None),
    (None, "-rope_scaling", None), (None, "rope_scaling=null,rope_theta=null", None), (None, "-rope_scaling,-rope_theta", None), (None, "rope_scaling={}", None), (None, "-rope_scaling,rope_parameters={}", None),
    (None, "-rope_scaling,head_dim=62", None), (None, "-rope_scaling,head_dim=3", None),
    (None, 'rope_scaling={"rope_type":"default"}', None), (None, 'rope_scaling={"rope_type":"linear","factor":2.0}', None), (None, f"rope_scaling={longrope(32)}", None),
    (None, "-rope_scaling,partial_rotary_factor=0.5", None), (None, "-rope_scaling,initial_context_length=7,original_max_position_embeddings=0", None),
    (None, "swiglu_alpha=1", None), (None, "swiglu_alpha=1.5,swiglu_limit=3.0", None), (None, "output_router_logits=true", None),
    (None, 'hidden_act="nosuch"', None), (None, "-pad_token_id", None), (None, "num_hidden_layers=0,layer_types=[]", None),
    (None, "-architectures", None),
    (None, None, "num_experts=2"), (None, None, "num_local_experts=2"), (None, None, "head_dim=32"), (None, None, "head_dim=null"), (None, None, "num_hidden_layers=4"),
    (None, None, "rope_parameters.rope_type=\"linear\""), (None, None, "sliding_window=null"),
]

BERT = [("Bert" + c, None, None) for c in ("Model", "ForPreTraining", "LMHeadModel", "ForMaskedLM", "ForNextSentencePrediction", "ForSequenceClassification",
                                           "ForMultipleChoice", "ForTokenClassification", "ForQuestionAnswering", "Layer")]
BERT += labels("BertForQuestionAnswering", ("BertForSequenceClassification", "BertForTokenClassification", "BertForQuestionAnswering",
                                            "BertForMultipleChoice", "BertForNextSentencePrediction"))
BERT += [
    (None, "tie_word_embeddings=false", None), ("BertForPreTraining", "tie_word_embeddings=false", None), ("BertLMHeadModel", "tie_word_embeddings=false", None),
    ("BertModel", "tie_word_embeddings=false", None), ("BertLMHeadModel", "is_decoder=true", None), (None, "is_decoder=true", None),
    ("BertLMHeadModel", "is_decoder=true,add_cross_attention=true", None), ("BertModel", "is_decoder=true,add_cross_attention=true", None),
    (None, "is_decoder=true,add_cross_attention=true", None), (None, "add_cross_attention=true", None), ("BertModel", "add_cross_attention=true,num_hidden_layers=0", None),
    ("BertModel", "is_encoder_decoder=true,is_decoder=true", None),
    (None, 'position_embedding_type="relative_key"', None), (None, 'position_embedding_type="relative_key_query",max_position_embeddings=300', None),
    (None, "num_attention_heads=11", None), (None, "num_attention_heads=11,embedding_size=128", None), (None, "num_attention_heads=11,num_hidden_layers=0", None),
    (None, "num_attention_heads=0", None), (None, "type_vocab_size=1", None), (None, "type_vocab_size=0", None), (None, "max_position_embeddings=514", None),
    (None, "max_position_embeddings=0", None), (None, "pad_token_id=null", None), (None, "pad_token_id=-1", None), (None, "pad_token_id=30522", None), (None, "-pad_token_id,vocab_size=0", None),
    (None, 'hidden_act="relu"', None), (None, 'hidden_act="nosuch"', None), ("BertModel", 'hidden_act="nosuch",num_hidden_layers=0', None),
    (None, 'hidden_act="nosuch",num_hidden_layers=0', None), (None, "chunk_size_feed_forward=64", None), (None, "chunk_size_feed_forward=null", None),
    ("BertForSequenceClassification", "classifier_dropout=0.3", None), ("BertModel", "add_pooling_layer=false,pooler_fc_size=100,pooler_type=\"x\"", None),
    (None, "vocab_size=30523,intermediate_size=1001,hidden_size=132", None), (None, "hidden_dropout_prob=null", None), (None, "layer_norm_eps=1", None), (None, "hidden_dropout_prob=0", None),
    (None, "num_hidden_layers=0", None), (None, 'torch_dtype="bfloat16"', None), (None, "-model_type", None), (None, "-architectures", None), (None, 'architectures=["BertForNothing"]', None),
    (None, 'pruned_heads={"0":[1,2]}', None), (None, "-hidden_size,-intermediate_size,-vocab_size,-max_position_embeddings,-type_vocab_size", None),
    (None, "head_dim=16,num_key_value_heads=2", None), (None, "n_layer=5,n_embd=9,d_model=11", None),
    (None, None, "tie_word_embeddings=false"), (None, None, "is_decoder=true,add_cross_attention=true"), (None, None, "add_cross_attention=true"),
    (None, None, "max_position_embeddings=40,type_vocab_size=3"), (None, None, "hidden_size=100"), ("LlamaForCausalLM", None, None),
]

T5 = [("T5" + c, None, None) for c in ("Model", "ForConditionalGeneration", "EncoderModel", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")]
T5 += labels("T5ForTokenClassification", ("T5ForSequenceClassification", "T5ForTokenClassification", "T5ForQuestionAnswering"))
T5 += [(c, 'feed_forward_proj="gated-gelu"', None) for c in ("T5ForConditionalGeneration", "T5EncoderModel", "T5ForSequenceClassification")]
T5 += [(c, None, "tie_word_embeddings=false") for c in ("T5Model", "T5ForConditionalGeneration", "T5EncoderModel", "T5ForSequenceClassification",
                                                       "T5ForTokenClassification", "T5ForQuestionAnswering")]
T5 += [(c, "is_decoder=true", None) for c in ("T5EncoderModel", "T5ForTokenClassification", "T5ForConditionalGeneration")]
T5 += [
    (None, 'feed_forward_proj="gated-silu"', None), (None, 'feed_forward_proj="gated"', None), (None, 'feed_forward_proj="wide-relu"', None),
    (None, 'feed_forward_proj="gated-gelu-new"', None), (None, 'feed_forward_proj="gelu_new"', None), (None, 'feed_forward_proj="nosuch"', None), (None, "feed_forward_proj=null", None),
    (None, 'feed_forward_proj=""', None), (None, "-feed_forward_proj", None), (None, "is_gated_act=true", None), (None, 'feed_forward_proj="gated-gelu",is_gated_act=false', None),
    (None, 'dense_act_fn="nosuch"', None), (None, 'feed_forward_proj="nosuch",dense_act_fn="relu"', None),
    (None, "num_decoder_layers=3", None), (None, "num_decoder_layers=null", None), (None, "-num_decoder_layers", None), (None, "num_decoder_layers=0", None), (None, "num_layers=0", None),
    (None, "num_layers=0,-num_decoder_layers", None), (None, "-num_layers,-num_decoder_layers", None),
    (None, "tie_word_embeddings=false", None), (None, "tie_word_embeddings=true", None), (None, "tie_word_embeddings=null", None), (None, "is_encoder_decoder=false", None),
    ("T5EncoderModel", "is_encoder_decoder=false", None), (None, "num_hidden_layers=3", None), (None, "num_hidden_layers=3,-num_decoder_layers", None),
    (None, "hidden_size=96", None), (None, "num_attention_heads=3", None), (None, "head_dim=10", None), (None, "-d_model,hidden_size=96", None),
    (None, "relative_attention_num_buckets=16,relative_attention_max_distance=64", None), (None, "relative_attention_num_buckets=0", None), (None, "d_kv=10,num_heads=3", None),
    (None, "num_heads=0", None), (None, "vocab_size=32101,d_ff=777", None), (None, "pad_token_id=null", None), (None, "pad_token_id=40000", None), (None, "classifier_dropout=null", None),
    ("T5ForSequenceClassification", "problem_type=\"regression\",num_labels=1", None), (None, 'architectures=["T5WithLMHeadModel"]', None), (None, "-architectures", None),
    (None, 'architectures=["T5EncoderModel"]', None), (None, '-model_type,architectures=["T5WithLMHeadModel"]', None), (None, "-model_type", None), (None, "d_model=null", None),
    (None, 'torch_dtype="float16"', None), (None, "initializer_factor=1", None),
    (None, None, "num_layers=1"), (None, None, "num_hidden_layers=1"), (None, None, "num_decoder_layers=1"), (None, None, 'feed_forward_proj="gated-gelu"'), (None, None, "is_gated_act=true"),
    (None, None, "d_model=100"), (None, None, "is_decoder=true"), ("T5EncoderModel", None, "is_decoder=true,num_layers=1"), (None, None, "num_decoder_layers=null"),
]

DECODER = ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification")

GEMMA = [("Gemma" + c, None, None) for c in DECODER]
GEMMA += [("GemmaForSequenceClassification", "num_labels=5", None), ("GemmaForTokenClassification", "num_labels=5,token_classification_bias=false", None)]
GEMMA += [
    (None, "tie_word_embeddings=false", None), ("GemmaModel", "attention_bias=true", None), (None, "attention_bias=true,mlp_bias=true", None),
    (None, "num_key_value_heads=null", None), (None, "-num_key_value_heads", None), (None, "num_key_value_heads=3", None), (None, "num_attention_heads=7", None),
    (None, "head_dim=null", None), (None, "-head_dim", None), (None, "head_dim=63", None), (None, "head_dim=0", None), (None, "hidden_size=2050", None),
    (None, "-hidden_size,-intermediate_size,-num_attention_heads,-num_key_value_heads,-vocab_size", None),
    (None, 'hidden_act="nosuch"', None), (None, 'hidden_activation="nosuch"', None), (None, "use_bidirectional_attention=true", None), (None, "use_bidirectional_attention=1", None),
    (None, 'rope_scaling={"type":"linear","factor":2.0}', None), (None, f"rope_scaling={YARN}", None), (None, f"rope_scaling={longrope(128)}", None), (None, "partial_rotary_factor=0.5", None),
    (None, "pad_token_id=256000", None), (None, "vocab_size=0", None), (None, "vocab_size=0,pad_token_id=null", None), (None, "-pad_token_id", None),
    (None, 'layer_types=["full_attention"]', None), (None, "attention_dropout=null", None), (None, "attention_dropout=1", None),
    (None, 'torch_dtype="float16"', None), (None, "-torch_dtype", None), (None, "-architectures", None), (None, "-model_type", None), ("LlamaForCausalLM", None, None),
    (None, None, "head_dim=64,hidden_size=96"), (None, None, "tie_word_embeddings=false"), (None, None, "num_key_value_heads=null"), (None, None, 'hidden_act="gelu"'),
]

GEMMA2 = [("Gemma2" + c, None, None) for c in DECODER]
GEMMA2 += [("Gemma2ForSequenceClassification", "num_labels=5", None), ("Gemma2ForTokenClassification", "num_labels=5", None)]
GEMMA2 += [
    (None, "tie_word_embeddings=false", None), (None, "attention_bias=true", None), (None, "-num_key_value_heads,-head_dim", None), (None, "num_key_value_heads=null", None),
    (None, "head_dim=null", None), (None, "head_dim=63", None), (None, "hidden_size=2305", None), (None, "num_attention_heads=9,num_key_value_heads=3", None), (None, "num_attention_heads=7", None),
    (None, "-hidden_size,-intermediate_size,-num_attention_heads,-num_key_value_heads,-vocab_size", None),
    (None, 'hidden_act="nosuch"', None), (None, 'hidden_activation="nosuch"', None), (None, "hidden_activation=null", None), (None, "-hidden_activation", None),
    (None, "query_pre_attn_scalar=224.0", None), (None, "query_pre_attn_scalar=0", None), (None, "query_pre_attn_scalar=-4", None), (None, "query_pre_attn_scalar=null", None),
    (None, "attn_logit_softcapping=null,final_logit_softcapping=null", None), (None, "attn_logit_softcapping=50", None), (None, "attention_dropout=null", None),
    (None, "sliding_window=null", None), (None, "sliding_window=0", None), (None, "sliding_window=1.5", None), (None, "-sliding_window,-query_pre_attn_scalar", None),
    (None, 'layer_types=["full_attention","full_attention"]', None), (None, 'layer_types=["full_attention"]', None), (None, 'layer_types=["full_attention","chunked_attention"]', None),
    (None, "layer_types=null,num_hidden_layers=3", None), (None, 'rope_parameters={"full_attention":{"rope_type":"default"},"sliding_attention":{"rope_type":"default"}}', None),
    (None, f"rope_scaling={YARN}", None), (None, "pad_token_id=256000", None), (None, "-architectures", None),
    (None, None, "num_hidden_layers=1"), (None, None, "num_hidden_layers=3"), (None, None, "sliding_window=32,hidden_size=100"), (None, None, "layer_types=null"),
]

PHI3 = [("Phi3" + c, None, None) for c in DECODER]
PHI3 += [("Phi3ForSequenceClassification", "num_labels=5", None), ("Phi3ForTokenClassification", "num_labels=5", None)]
PHI3 += [
    (None, "tie_word_embeddings=true", None), (None, "num_key_value_heads=null", None), (None, "-num_key_value_heads", None), (None, "num_key_value_heads=8", None),
    (None, "num_key_value_heads=0", None), (None, "num_attention_heads=30", None), (None, "hidden_size=3100", None), (None, "head_dim=64", None), (None, "head_dim=null", None), (None, "head_dim=65", None),
    (None, "attention_bias=true,mlp_bias=true,lm_head_bias=true", None), (None, "sliding_window=null", None), (None, "-sliding_window", None), (None, "sliding_window=2047.0", None),
    (None, "-hidden_size,-intermediate_size,-num_attention_heads,-num_key_value_heads,-vocab_size", None),
    (None, "resid_pdrop=null", None), (None, "resid_pdrop=1.5", None), (None, "embd_pdrop=1.5", None), (None, "resid_pdrop=0", None), (None, 'hidden_act="nosuch"', None),
    (None, "partial_rotary_factor=0.75", None), (None, "partial_rotary_factor=null", None), (None, "partial_rotary_factor=0.3", None), (None, "partial_rotary_factor=0.5,head_dim=65", None),
    (None, 'rope_parameters={"rope_type":"default","partial_rotary_factor":0.5,"rope_theta":5000.0}', None),
    (None, f"rope_scaling={longrope(48)}", None), (None, f"rope_scaling={longrope(48)},partial_rotary_factor=0.75", None), (None, f"rope_scaling={longrope(36)},partial_rotary_factor=0.75", None),
    (None, f"rope_scaling={longrope(48)},head_dim=64", None), (None, f"rope_scaling={longrope(32)},head_dim=64", None), (None, f"rope_scaling={longrope(48)},original_max_position_embeddings=null", None),
    (None, f"rope_scaling={longrope(48)},original_max_position_embeddings=0", None), (None, "original_max_position_embeddings=0", None),
    (None, f"rope_scaling={longrope(48)},-original_max_position_embeddings".replace('"rope_type":"longrope"', '"type":"su"'), None),
    (None, f"rope_scaling={longrope(48)}".replace('"rope_type":"longrope"', '"type":"su"').replace(',"original_max_position_embeddings":4096', ""), None),
    (None, f"rope_scaling={longrope(48)}".replace("longrope", "yarn"), None), (None, f"rope_scaling={longrope(48)}".replace("longrope", "default"), None), (None, f"rope_scaling={longrope(47)}".replace("longrope", "default"), None),
    (None, f"rope_scaling={longrope(48)}".replace("1.0,1.0", '"a",1.0', 1), None), (None, f"rope_scaling={YARN}", None), (None, 'rope_scaling={"type":"linear","factor":2.0}', None),
    (None, 'rope_scaling={"type":"longrope","short_factor":null,"long_factor":null}', None), (None, 'rope_scaling={"type":"longrope"}', None),
    (None, "vocab_size=32000,-pad_token_id", None), (None, "pad_token_id=null", None), (None, "-architectures", None), (None, 'layer_types=["full_attention","sliding_attention"]', None),
    (None, None, "num_key_value_heads=null"), (None, None, "head_dim=64"), (None, None, "rope_parameters.partial_rotary_factor=0.5"), (None, None, "hidden_size=1536"),
    (None, None, 'rope_parameters.rope_type="linear"'), (None, None, 'rope_parameters.rope_type="linear",rope_parameters.factor=2.0'), (None, None, 'rope_parameters.rope_type="su"'),
]

# BERT's keys under other defaults; what they share with BERT is not recorded again.
ENDINGS = ("Model", "ForCausalLM", "ForMaskedLM", "ForSequenceClassification", "ForMultipleChoice", "ForTokenClassification", "ForQuestionAnswering")
ROBERTA = [("Roberta" + c, None, None) for c in ENDINGS]
ROBERTA += labels("RobertaForSequenceClassification", ("RobertaForTokenClassification", "RobertaForQuestionAnswering", "RobertaForMultipleChoice"))
ROBERTA += [
    (None, "tie_word_embeddings=false", None), ("RobertaForCausalLM", "tie_word_embeddings=false", None), ("RobertaForCausalLM", "is_decoder=true", None),
    ("RobertaForCausalLM", "is_decoder=true,add_cross_attention=true", None), (None, "add_cross_attention=true", None), (None, "num_attention_heads=11", None),
    (None, "num_attention_heads=11,embedding_size=128", None), (None, "type_vocab_size=0", None), (None, "max_position_embeddings=0", None),
    (None, "max_position_embeddings=1", None), (None, "max_position_embeddings=1,-pad_token_id", None), (None, "vocab_size=1,-pad_token_id", None), (None, "pad_token_id=514", None), (None, "pad_token_id=-1", None),
    (None, "pad_token_id=null,max_position_embeddings=0,vocab_size=0", None), (None, "pad_token_id=-600", None), (None, 'hidden_act="nosuch"', None),
    (None, 'hidden_act="nosuch",num_hidden_layers=0', None), (None, 'hidden_act="prelu"', None), ("RobertaForSequenceClassification", "classifier_dropout=1.5", None),
    ("RobertaForMultipleChoice", "classifier_dropout=1.5", None), (None, "layer_norm_eps=1", None), (None, "-model_type", None), (None, "-architectures", None),
    (None, 'architectures=["XLMRobertaForMaskedLM"]', None), (None, 'model_type="xlm-roberta"', None), (None, 'model_type="xlm-roberta",-vocab_size', None), ("BertForMaskedLM", None, None),
    (None, "-hidden_size,-intermediate_size,-vocab_size,-max_position_embeddings,-type_vocab_size,-pad_token_id", None),
    (None, None, "tie_word_embeddings=false"), (None, None, "max_position_embeddings=40,type_vocab_size=3"), (None, None, "pad_token_id=600"),
]
XLM_ROBERTA = [("XLMRoberta" + c, None, None) for c in ENDINGS]
XLM_ROBERTA += [
    ("XLMRobertaForSequenceClassification", "num_labels=5", None), ("XLMRobertaForCausalLM", "is_decoder=true,add_cross_attention=true", None), (None, "-model_type", None), (None, "-architectures", None),
    (None, 'architectures=["RobertaForMaskedLM"]', None), (None, 'model_type="roberta"', None), (None, 'model_type="roberta",-vocab_size', None),
    (None, "-hidden_size,-intermediate_size,-vocab_size,-max_position_embeddings,-type_vocab_size,-pad_token_id", None), (None, None, "vocab_size=99"),
]

MAMBA = [(c, None, None) for c in ("MambaModel", "MambaForCausalLM")]
MAMBA += [
    (None, "tie_word_embeddings=false", None), ("MambaModel", "tie_word_embeddings=false", None), (None, "use_bias=true", None), (None, "use_conv_bias=false", None),
    ("MambaModel", "use_bias=true,use_conv_bias=false", None), (None, "state_size=7,conv_kernel=3", None), (None, "conv_kernel=0", None), (None, "state_size=0", None),
    (None, "-intermediate_size", None), (None, "-intermediate_size,expand=3", None), (None, "expand=3", None), (None, "-intermediate_size,expand=0", None), (None, "expand=2.0", None),
    (None, "intermediate_size=100", None), (None, "intermediate_size=null", None), (None, "intermediate_size=0", None), (None, "-hidden_size,-intermediate_size,-time_step_rank", None),
    (None, 'time_step_rank="auto"', None), (None, 'time_step_rank="auto",hidden_size=100', None), (None, "-time_step_rank,hidden_size=97,-intermediate_size", None),
    (None, 'time_step_rank="7"', None), (None, 'time_step_rank="auto "', None), (None, "time_step_rank=null", None), (None, "time_step_rank=6.0", None), (None, "time_step_rank=true", None),
    (None, "time_step_rank=0", None), (None, "time_step_rank=-1", None), (None, 'time_step_rank="nosuch",num_hidden_layers=0', None),
    (None, "num_hidden_layers=0", None), (None, "num_hidden_layers=-1", None), (None, "hidden_size=0", None), (None, "d_model=11,n_layer=5,d_inner=13", None),
    (None, 'layer_types=["linear_attention","linear_attention"]', None), (None, "vocab_size=0", None), (None, "pad_token_id=60000", None), (None, "num_labels=5", None),
    (None, 'hidden_act="prelu"', None), (None, 'hidden_act="nosuch"', None), (None, "layer_norm_epsilon=1", None), (None, "residual_in_fp32=null", None), (None, "use_mambapy=true,use_associative_scan=false", None),
    (None, "time_step_floor=1", None), (None, "use_cache=1", None), (None, "rescale_prenorm_residual=1", None), (None, 'torch_dtype="bfloat16"', None), (None, "-architectures", None),
    (None, 'architectures=["MambaLMHeadModel"]', None), (None, "-model_type", None),
    (None, None, "hidden_size=96"), (None, None, "expand=4,state_size=8"), (None, None, 'time_step_rank="auto"'), (None, None, "intermediate_size=64,time_step_rank=5"), (None, None, "num_hidden_layers=-1"),
    (None, None, "tie_word_embeddings=false,use_bias=true"),
]

FALCON_MAMBA = [(c, None, None) for c in ("FalconMambaModel", "FalconMambaForCausalLM")]
FALCON_MAMBA += [
    (None, "-intermediate_size,expand=2", None), (None, "use_bias=true,use_conv_bias=false", None), (None, 'time_step_rank="auto",tie_word_embeddings=true', None), (None, "mixer_rms_eps=1", None),
    (None, "use_falcon_mambapy=true", None), (None, None, "state_size=8,hidden_size=96"),
]

MAMBA2 = [(c, None, None) for c in ("Mamba2Model", "Mamba2ForCausalLM")]
MAMBA2 += [
    (None, "num_heads=64", None), (None, "num_heads=64,head_dim=128,n_groups=4,state_size=16", None), (None, "expand=1,head_dim=32", None), (None, "use_bias=true,use_conv_bias=false,tie_word_embeddings=true", None),
    (None, "n_groups=0", None), (None, 'time_step_rank="nosuch"', None), (None, "chunk_size=null", None), (None, "time_step_limit=null", None), (None, "time_step_limit=[0.0,0.5]", None), (None, None, "num_heads=64,head_dim=8"),
    (None, None, "hidden_size=96,conv_kernel=3"), (None, "-num_heads,-head_dim,-n_groups,-state_size,-hidden_size,-vocab_size,-tie_word_embeddings", None), (None, "expand=0", None),
]

BART = [("Bart" + c, None, None) for c in ("Model", "ForConditionalGeneration", "ForSequenceClassification", "ForQuestionAnswering", "ForCausalLM", "Encoder", "DecoderLayer")]
BART += labels("BartForSequenceClassification", ("BartForSequenceClassification", "BartForQuestionAnswering"))
BART += [(c, "tie_word_embeddings=false", None) for c in ("BartModel", "BartForConditionalGeneration", "BartForSequenceClassification", "BartForQuestionAnswering", "BartForCausalLM")]
BART += [
    ("BartForConditionalGeneration", None, "tie_word_embeddings=false"), (None, "num_hidden_layers=3", None), (None, "hidden_size=96,num_attention_heads=4,decoder_attention_heads=8", None), (None, "num_attention_heads=5", None),
    ("BartForCausalLM", "encoder_attention_heads=5", None), ("BartForCausalLM", "decoder_attention_heads=5", None), (None, "decoder_attention_heads=5", None), (None, "decoder_attention_heads=0", None),
    (None, "decoder_attention_heads=5,decoder_layers=0", None), (None, "encoder_layers=0,num_hidden_layers=0", None), (None, "encoder_layers=null", None), ("BartForCausalLM", "encoder_layers=null", None), (None, "decoder_layers=3", None),
    (None, "encoder_ffn_dim=100,decoder_ffn_dim=101", None), (None, "encoder_ffn_dim=null", None), ("BartForCausalLM", "encoder_ffn_dim=null", None), (None, "encoder_layerdrop=0", None), (None, "encoder_layerdrop=0.5,decoder_layerdrop=null", None),
    (None, "dropout=null", None), (None, "dropout=1.5", None), ("BartForSequenceClassification", "classifier_dropout=null", None), ("BartForSequenceClassification", "classifier_dropout=1.5", None), (None, "classifier_dropout=1.5", None),
    (None, 'activation_function="nosuch"', None), (None, 'activation_function="prelu"', None), (None, "activation_function=null", None), (None, "scale_embedding=true", None), (None, "scale_embedding=null", None), (None, "is_encoder_decoder=false", None),
    (None, "is_decoder=true", None), (None, "max_position_embeddings=100", None), (None, "max_position_embeddings=0", None), (None, "vocab_size=50265,pad_token_id=50265", None), (None, "pad_token_id=null", None),
    (None, "vocab_size=1,-pad_token_id", None), (None, "vocab_size=0,pad_token_id=null", None), (None, "decoder_start_token_id=null", None), (None, "init_std=1", None), (None, 'torch_dtype="bfloat16"', None), (None, "-model_type", None), (None, "-architectures", None),
    (None, "-d_model,-encoder_ffn_dim,-encoder_attention_heads,-decoder_layers,-max_position_embeddings,-vocab_size", None), (None, 'architectures=["BartForNothing"]', None), (None, "num_labels=3,id2label=null", None),
    (None, None, "d_model=96"), (None, None, "num_hidden_layers=1"), (None, None, "decoder_layers=1"), (None, None, "num_attention_heads=5"), ("BartForQuestionAnswering", None, "num_labels=4"), ("BartForSequenceClassification", "-id2label,-label2id", None),
]

DEBERTA_V2 = [("DebertaV2" + c, None, None) for c in ("Model", "ForMaskedLM", "ForSequenceClassification", "ForMultipleChoice", "ForTokenClassification", "ForQuestionAnswering", "Encoder")]
DEBERTA_V2 += labels("DebertaV2ForSequenceClassification", ("DebertaV2ForSequenceClassification", "DebertaV2ForTokenClassification", "DebertaV2ForQuestionAnswering", "DebertaV2ForMultipleChoice"))
DEBERTA_V2 += [
    (None, "tie_word_embeddings=false", None), (None, "legacy=false", None), (None, "legacy=false,tie_word_embeddings=false", None), (None, "legacy=false,embedding_size=64", None), (None, "embedding_size=64", None), (None, "embedding_size=768", None), (None, "embedding_size=null", None), (None, "embedding_size=0", None),
    (None, "share_att_key=false", None), (None, 'share_att_key=false,pos_att_type="c2p"', None), (None, 'share_att_key=false,pos_att_type="P2C | C2P"', None), (None, 'share_att_key=false,pos_att_type=["p2c"]', None), (None, "share_att_key=false,pos_att_type=null", None),
    (None, 'share_att_key=false,pos_att_type=["p2c","other"]', None), (None, "share_att_key=false,pos_att_type=[]", None), (None, "share_att_key=false,pos_att_type=1", None), (None, "share_att_key=null", None), (None, "-share_att_key", None), (None, "relative_attention=false", None), (None, "-relative_attention", None),
    (None, "relative_attention=false,share_att_key=false", None), (None, "relative_attention=null", None), (None, "-position_buckets", None), (None, "position_buckets=-1", None), (None, "position_buckets=0,max_relative_positions=100", None), (None, "position_buckets=32", None), (None, "position_buckets=null", None), (None, "max_relative_positions=100,-position_buckets", None),
    (None, 'norm_rel_ebd="none"', None), (None, "-norm_rel_ebd", None), (None, 'norm_rel_ebd="Layer_Norm | x"', None), (None, "norm_rel_ebd=null", None), (None, 'relative_attention=false,norm_rel_ebd="layer_norm"', None), (None, "conv_kernel_size=3", None), (None, "conv_kernel_size=4,conv_groups=2", None),
    (None, "conv_kernel_size=0", None), (None, "conv_kernel_size=-3", None), (None, "conv_kernel_size=null", None), (None, "conv_kernel_size=3,conv_groups=7", None), (None, "conv_kernel_size=3,conv_groups=0", None), (None, 'conv_kernel_size=3,conv_act="nosuch"', None), (None, "attention_head_size=32", None), (None, "attention_head_size=0", None),
    (None, "attention_head_size=null", None), (None, "num_attention_heads=5", None), (None, "num_attention_heads=5,num_hidden_layers=0", None), (None, "num_attention_heads=0", None), (None, "position_biased_input=true", None), (None, "-position_biased_input", None), (None, "position_biased_input=null", None), (None, "type_vocab_size=2", None), (None, "type_vocab_size=-1", None), (None, "-type_vocab_size", None),
    (None, "max_position_embeddings=100,-position_buckets", None), (None, "max_position_embeddings=0", None), (None, "pad_token_id=null", None), (None, "-pad_token_id,vocab_size=0", None), (None, "pad_token_id=128100", None), ("DebertaV2ForSequenceClassification", "pooler_hidden_size=100", None), ("DebertaV2ForSequenceClassification", "-pooler_hidden_size", None),
    ("DebertaV2ForSequenceClassification", "pooler_hidden_size=null", None), ("DebertaV2ForSequenceClassification", "pooler_dropout=1.5", None), ("DebertaV2ForSequenceClassification", 'pooler_hidden_act="nosuch"', None), ("DebertaV2ForSequenceClassification", "cls_dropout=1.5", None), ("DebertaV2ForSequenceClassification", "cls_dropout=null", None), (None, "pooler_dropout=1.5", None),
    ("DebertaV2ForTokenClassification", "cls_dropout=1.5", None), (None, 'hidden_act="nosuch"', None), (None, 'hidden_act="nosuch",num_hidden_layers=0', None), ("DebertaV2Model", 'hidden_act="nosuch",num_hidden_layers=0', None), (None, 'hidden_act="prelu"', None), (None, "layer_norm_eps=1", None), (None, "num_hidden_layers=0", None), (None, "-model_type", None), (None, "-architectures", None),
    (None, "-hidden_size,-intermediate_size,-vocab_size,-max_position_embeddings,-num_attention_heads,-pooler_hidden_size", None), ("DebertaV2ForSequenceClassification", None, "hidden_size=96"), (None, None, "tie_word_embeddings=false"), (None, None, 'pos_att_type="c2p",share_att_key=false'), (None, None, "position_buckets=8"), (None, None, "legacy=false"),
]

OPT = [("OPT" + c, None, None) for c in ("ForCausalLM", "Model", "ForSequenceClassification", "ForQuestionAnswering")]
OPT += [
    (None, "word_embed_proj_dim=96", None), (None, "word_embed_proj_dim=null", None), (None, "-word_embed_proj_dim", None),
    ("OPTForSequenceClassification", "word_embed_proj_dim=96,num_labels=5", None), (None, "do_layer_norm_before=false", None),
    (None, "_remove_final_layer_norm=true", None), (None, "enable_bias=false,layer_norm_elementwise_affine=false", None),
    (None, "tie_word_embeddings=false", None), (None, "num_attention_heads=7", None), (None, "pad_token_id=60000", None),
    (None, "ffn_dim=100,max_position_embeddings=33", None), (None, None, "hidden_size=384"),
]

GPT_NEOX = [("GPTNeoX" + c, None, None) for c in HEADS]
GPT_NEOX += [
    (None, "rotary_pct=1.0", None), (None, "-rotary_pct,-rotary_emb_base", None), (None, "rotary_pct=0.3,head_dim=32", None),
    (None, "partial_rotary_factor=0.5", None), (None, 'rope_scaling={"type":"linear","factor":2.0}', None),
    (None, 'rope_scaling={"rope_type":"dynamic","factor":2.0,"partial_rotary_factor":1.0}', None), (None, "rotary_pct=null", None),
    (None, "attention_bias=false,use_parallel_residual=false", None), (None, "tie_word_embeddings=true", None),
    (None, "num_attention_heads=7,num_hidden_layers=0", None), (None, None, "num_attention_heads=4"),
]

GPTJ = [("GPTJ" + c, None, None) for c in ("ForCausalLM", "Model", "ForSequenceClassification", "ForQuestionAnswering")]
GPTJ += [
    (None, "rotary_dim=33", None), (None, "rotary_dim=0", None), (None, "rotary_dim=null", None), (None, "n_inner=100,n_positions=33", None),
    (None, "tie_word_embeddings=true", None), (None, "n_head=7", None), ("GPTJForQuestionAnswering", "num_labels=3", None), (None, None, "n_embd=512"),
]

GPT_NEO = [("GPTNeo" + c, None, None) for c in HEADS]
GPT_NEO += [
    (None, 'attention_types=[[["global","local","local"],1]]', None), (None, 'attention_types=[[["global"],2]],-attention_layers', None),
    (None, 'attention_types=[[["nosuch"],2]],-attention_layers', None), (None, "intermediate_size=100,max_position_embeddings=33", None),
    (None, "tie_word_embeddings=false", None), (None, "num_heads=7", None), (None, None, "num_layers=1"), (None, None, "num_layers=3"),
]

GPT_BIGCODE = [("GPTBigCode" + c, None, None) for c in ("ForCausalLM", "Model", "ForSequenceClassification", "ForTokenClassification")]
GPT_BIGCODE += [
    (None, "multi_query=false", None), (None, "multi_query=false,add_cross_attention=true", None), (None, "add_cross_attention=true", None),
    (None, "n_inner=null,n_positions=33", None), (None, "tie_word_embeddings=false", None), (None, "n_head=7", None), (None, None, "multi_query=false"),
]

CODEGEN = [("CodeGenForCausalLM", None, None), ("CodeGenModel", None, None)]
CODEGEN += [
    (None, "rotary_dim=33", None), (None, "n_inner=100,n_positions=33", None), (None, "tie_word_embeddings=true", None), (None, "n_head=7", None),
    (None, "n_ctx=null", None), (None, "n_head=5", None),
]

FALCON = [("Falcon" + c, None, None) for c in HEADS]
FALCON += [
    (None, "new_decoder_architecture=true,num_kv_heads=8", None), (None, "new_decoder_architecture=true,num_ln_in_parallel_attn=1", None),
    (None, "multi_query=true,parallel_attn=true,bias=false", None), (None, "multi_query=false,num_kv_heads=4", None), (None, "alibi=false", None),
    (None, "num_ln_in_parallel_attn=2,parallel_attn=true", None), (None, "new_decoder_architecture=true,parallel_attn=false", None),
    (None, "ffn_hidden_size=100", None), (None, "n_embed=128", None), (None, "tie_word_embeddings=false", None), (None, "num_attention_heads=7", None),
    (None, "activation=null", None),
]

BLOOM = [("Bloom" + c, None, None) for c in HEADS]
BLOOM += [
    (None, "n_embed=128", None), (None, "-n_embed,-hidden_size", None), (None, "num_attention_heads=7", None), (None, "-num_attention_heads,n_head=8", None),
    (None, "tie_word_embeddings=false", None), (None, "pretraining_tp=2,slow_but_exact=true", None), (None, "pretraining_tp=null", None),
]

MPT = [("Mpt" + c, None, None) for c in HEADS]
MPT += [
    (None, "attn_config=null", None), (None, 'attn_config={"attn_type":"multiquery_attention"}', None), (None, 'attn_config={"attn_type":"nosuch"}', None),
    (None, 'attn_config={"clip_qkv":6.0,"qk_ln":true,"alibi":false,"softmax_scale":0.5}', None), (None, 'attn_config={"attn_pdrop":0.1}', None),
    (None, "no_bias=false,expansion_ratio=2", None), (None, "tie_word_embeddings=false", None), (None, "n_heads=7", None), (None, "logit_scale=2", None),
]

XGLM = [("XGLMForCausalLM", None, None), ("XGLMModel", None, None)]
XGLM += [
    (None, "add_cross_attention=true", None), (None, "ffn_dim=100,max_position_embeddings=33", None), (None, "tie_word_embeddings=false", None),
    (None, "attention_heads=7", None), (None, "pad_token_id=null,scale_embedding=false", None), (None, "d_model=65,attention_heads=5", None),
]

LFM2 = [
    ("Lfm2Model", None, None), (None, "block_auto_adjust_ff_dim=false", None), (None, "block_ffn_dim_multiplier=1.3,block_multiple_of=100", None), (None, "-block_ff_dim,intermediate_size=1001", None), (None, "tie_embedding=false,tie_word_embeddings=true", None),
    (None, "conv_bias=true,conv_L_cache=5", None), (None, "head_dim=32,num_key_value_heads=4", None), (None, "-full_attn_idxs", None), (None, 'layer_types=["full_attention","sliding_attention","conv"]', None), (None, None, "intermediate_size=900,tie_word_embeddings=false"),
]
LFM2_MOE = [
    ("Lfm2MoeModel", None, None), (None, "use_expert_bias=false,norm_topk_prob=false", None), (None, "num_dense_layers=0,num_experts=5,num_experts_per_tok=2", None), (None, "num_dense_layers=3,tie_embedding=false", None), (None, "conv_bias=true,block_ff_dim=999", None),
    (None, "-layer_types", None), (None, "output_router_logits=true,-hidden_size,-intermediate_size,-moe_intermediate_size", None), (None, None, "intermediate_size=900,moe_intermediate_size=77"),
]

# family -> (configuration, what makes it shallow, rows); further rows name a configuration of their own, as published.
DISTILBERT = [("DistilBert" + c, None, None) for c in ENDINGS if c != "ForCausalLM"]
DISTILBERT += [
    ("DistilBertForQuestionAnswering", "num_labels=3", None), ("DistilBertForSequenceClassification", "num_labels=3", None),
    (None, "tie_word_embeddings=false", None), (None, "n_heads=7", None), (None, "n_heads=7,n_layers=0", None), (None, "sinusoidal_pos_embds=true", None),
    (None, "hidden_size=96,dim=48,n_heads=4", None), (None, 'activation="prelu"', None), (None, "max_position_embeddings=0", None),
    (None, "pad_token_id=30522", None), (None, "dropout=null", None), ("DistilBertForSequenceClassification", "seq_classif_dropout=1.5", None),
    (None, "-dim,-hidden_dim,-vocab_size,-n_heads,-max_position_embeddings", None), (None, None, "tie_word_embeddings=false"),
]
ELECTRA = [("Electra" + c, None, None) for c in ENDINGS + ("ForPreTraining",)]
ELECTRA += [
    ("ElectraForMaskedLM", "tie_word_embeddings=false", None), ("ElectraForMaskedLM", "embedding_size=256", None), (None, "num_attention_heads=3", None),
    ("ElectraForCausalLM", "is_decoder=true,add_cross_attention=true", None), (None, "add_cross_attention=true", None),
    ("ElectraForMultipleChoice", "summary_proj_to_labels=true,num_labels=3", None), ("ElectraForMultipleChoice", "summary_use_proj=false", None),
    ("ElectraForMultipleChoice", 'summary_type="attn"', None), ("ElectraForMultipleChoice", "summary_activation=null", None),
    (None, 'hidden_act="prelu"', None), (None, "-hidden_size,-intermediate_size,-embedding_size,-vocab_size,-num_attention_heads,-max_position_embeddings,-type_vocab_size", None),
]
MPNET = [("MPNet" + c, None, None) for c in ENDINGS if c != "ForCausalLM"]
MPNET += [
    (None, "tie_word_embeddings=false", None), (None, "pad_token_id=40000", None), (None, "vocab_size=1", None), (None, "max_position_embeddings=1", None),
    (None, "relative_attention_num_buckets=16", None), (None, "relative_attention_num_buckets=0", None), (None, "num_attention_heads=7", None), (None, "type_vocab_size=null", None),
    (None, "-hidden_size,-intermediate_size,-vocab_size,-num_attention_heads,-max_position_embeddings,-layer_norm_eps", None),
]
MEGATRON_BERT = [("MegatronBert" + c, None, None) for c in ENDINGS + ("ForPreTraining", "ForNextSentencePrediction")]
MEGATRON_BERT += [
    (None, "tie_word_embeddings=false", None), (None, "is_decoder=true,add_cross_attention=true", None), (None, "add_cross_attention=true", None), (None, "num_attention_heads=7", None),
    ("MegatronBertForSequenceClassification", "classifier_dropout=1.5", None), (None, "type_vocab_size=0", None), (None, "pad_token_id=-1", None),
    (None, "-hidden_size,-intermediate_size,-vocab_size,-num_attention_heads,-max_position_embeddings,-type_vocab_size", None),
]
MT5 = [("MT5" + c, None, None) for c in ("Model", "ForConditionalGeneration", "EncoderModel", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")]
MT5 += [(None, "tie_word_embeddings=false", None), (None, None, "tie_word_embeddings=false"), (None, "-num_layers,-num_decoder_layers,-num_heads,-d_ff,-feed_forward_proj", None)]
UMT5 = [("U" + c, edit, over) if c else (c, edit, over) for c, edit, over in MT5]
MBART = [("MBart" + c, None, None) for c in ("Model", "ForConditionalGeneration", "ForCausalLM", "ForSequenceClassification", "ForQuestionAnswering")]
MBART += [(None, "tie_word_embeddings=false", None), (None, "d_model=null", None), (None, "dropout=null", None), ("MBartForSequenceClassification", "-id2label", None)]
MARIAN = [("Marian" + c, None, None) for c in ("MTModel", "Model", "ForCausalLM")]
MARIAN += [(None, "share_encoder_decoder_embeddings=false,decoder_vocab_size=70000", None), (None, "decoder_vocab_size=70000", None),
           ("MarianModel", "share_encoder_decoder_embeddings=false", None), (None, "tie_word_embeddings=false", None)]
M2M_100 = [("M2M100" + c, None, None) for c in ("ForConditionalGeneration", "Model")] + [(None, "tie_word_embeddings=false", None), (None, "encoder_layerdrop=0.1", None)]
MODERNBERT = [("ModernBert" + c, None, None) for c in ENDINGS if c != "ForCausalLM"]
MODERNBERT += [(None, "norm_bias=true,attention_bias=true,mlp_bias=true,classifier_bias=true,decoder_bias=false", None), (None, "tie_word_embeddings=false", None),
               (None, "global_attn_every_n_layers=1", None), (None, "global_attn_every_n_layers=0", None), (None, 'layer_types=["sliding_attention","sliding_attention"]', None),
               (None, "num_attention_heads=7", None), (None, 'classifier_pooling="max"', None), (None, "head_dim=32", None)]
STARCODER2 = [("Starcoder2" + c, None, None) for c in DECODER]
STARCODER2 += [
    (None, "use_bias=false", None), (None, "head_dim=64", None), (None, "head_dim=0", None), (None, "num_key_value_heads=null", None), (None, "sliding_window=null", None),
    (None, "tie_word_embeddings=false", None), (None, "residual_dropout=1.5", None), (None, "norm_epsilon=1", None), (None, None, "num_attention_heads=12"),
    (None, "-hidden_size,-intermediate_size,-num_attention_heads,-num_key_value_heads,-vocab_size", None),
]

PHI = [("Phi" + c, None, None) for c in DECODER]
PHI += [
    (None, "qk_layernorm=true", None), (None, "num_key_value_heads=8", None), (None, "-partial_rotary_factor", None), (None, "partial_rotary_factor=0.3", None),
    (None, "head_dim=32", None), (None, "tie_word_embeddings=true", None), (None, "resid_pdrop=1.5", None), (None, None, "hidden_size=1024"),
    (None, 'rope_scaling={"type":"linear","factor":2.0}', None), (None, "-hidden_size,-intermediate_size,-num_attention_heads,-vocab_size", None),
]

STABLELM = [("StableLm" + c, None, None) for c in DECODER]
STABLELM += [
    (None, "qk_layernorm=true,num_key_value_heads=8", None), (None, "use_parallel_residual=true", None), (None, "use_qkv_bias=false", None), (None, "num_attention_heads=30", None),
    (None, "-partial_rotary_factor", None), (None, "-num_key_value_heads", None), (None, "hidden_dropout=1.5", None), (None, None, "rope_parameters.partial_rotary_factor=0.5"),
]

PERSIMMON = [("Persimmon" + c, None, None) for c in DECODER]
PERSIMMON += [
    (None, "qk_layernorm=false", None), (None, "num_attention_heads=60", None), (None, "tie_word_embeddings=true", None), (None, "attention_dropout=1.5", None),
    (None, "-partial_rotary_factor", None), (None, "-hidden_size,-intermediate_size,-num_attention_heads,-vocab_size", None),
]

COHERE = [("Cohere" + c, None, None) for c in ("ForCausalLM", "Model")]
COHERE += [
    (None, "use_qk_norm=true", None), (None, "use_qk_norm=null", None), (None, "num_key_value_heads=null", None), (None, "head_dim=64", None), (None, "attention_bias=true", None),
    (None, "tie_word_embeddings=false", None), (None, "-rope_theta", None), (None, "pad_token_id=300000", None),
]

COHERE2 = [("Cohere2" + c, None, None) for c in ("ForCausalLM", "Model")]
COHERE2 += [
    (None, "head_dim=64", None), (None, "num_key_value_heads=null,attention_bias=true", None), (None, 'layer_types=["full_attention","full_attention"]', None),
    (None, "sliding_window_pattern=0", None), (None, "sliding_window=null", None), (None, 'layer_types=["full_attention"]', None), (None, None, "hidden_size=2048"),
]

GLM = [("Glm" + c, None, None) for c in DECODER]
GLM += [
    (None, "attention_bias=false", None), (None, "head_dim=64,num_key_value_heads=4", None), (None, "head_dim=null", None), (None, "num_key_value_heads=null", None),
    (None, "-partial_rotary_factor", None), (None, "partial_rotary_factor=1.0", None), (None, "tie_word_embeddings=true", None), (None, "-hidden_size,-intermediate_size,-num_attention_heads,-num_key_value_heads,-head_dim", None),
]

GLM4 = [("Glm4" + c, None, None) for c in DECODER]
GLM4 += [(None, "attention_bias=true,head_dim=64", None), (None, "num_key_value_heads=null", None), (None, "tie_word_embeddings=true", None)]

ERNIE4_5 = [("Ernie4_5" + c, None, None) for c in ("ForCausalLM", "Model")]
ERNIE4_5 += [
    (None, "use_bias=true", None), (None, "use_bias=null", None), (None, "head_dim=null", None), (None, "-head_dim,-num_key_value_heads", None), (None, "num_key_value_heads=null", None),
    (None, "tie_word_embeddings=false", None), (None, "attention_dropout=0.5", None),
]

HUNYUAN_V1_DENSE = [("HunYuanDenseV1" + c, None, None) for c in ("ForCausalLM", "Model", "ForSequenceClassification")]
HUNYUAN_V1_DENSE += [
    (None, "-head_dim", None), (None, "head_dim=64", None), (None, "attention_bias=true", None), (None, "num_key_value_heads=null", None), (None, "-rope_scaling", None), (None, "tie_word_embeddings=true", None),
]

GRANITE = [("Granite" + c, None, None) for c in ("ForCausalLM", "Model")]
GRANITE += [(None, "attention_bias=true,mlp_bias=true", None), (None, "head_dim=32", None), (None, "num_key_value_heads=null", None), (None, "tie_word_embeddings=false,logits_scaling=2", None)]

GEMMA3 = [(c, None, None) for c in ("Gemma3ForCausalLM", "Gemma3TextModel", "Gemma3TextForSequenceClassification")]
GEMMA3 += [
    (None, "use_bidirectional_attention=true", None), (None, 'layer_types=["full_attention","full_attention"]', None), (None, 'layer_types=["sliding_attention","full_attention"],rope_scaling={"rope_type":"linear","factor":8.0}', None),
    (None, "tie_word_embeddings=false,attention_bias=true", None), (None, "head_dim=64", None), (None, "num_attention_heads=5", None), (None, "sliding_window_pattern=1", None), (None, "sliding_window_pattern=0", None),
    (None, 'rope_parameters={"full_attention":{"rope_type":"default","rope_theta":1000000.0},"sliding_attention":{"rope_type":"default","rope_theta":10000.0}}', None),
]

GEMMA4 = [(c, None, None) for c in ("Gemma4ForConditionalGeneration", "Gemma4Model")]
GEMMA4 += [
    (None, "tie_word_embeddings=false,text_config.attention_bias=true", None),
    (None, "text_config.num_kv_shared_layers=6", None), (None, "text_config.num_kv_shared_layers=0,text_config.attention_k_eq_v=true,text_config.num_global_key_value_heads=2", None),
    (None, "vision_config=null,audio_config=null,text_config.hidden_size_per_layer_input=0", None), (None, "-vision_config,-audio_config", None),
    (None, "text_config.enable_moe_block=true,text_config.num_experts=4,text_config.top_k_experts=2,text_config.moe_intermediate_size=64", None), (None, "text_config.enable_moe_block=true", None),
    (None, "text_config.global_head_dim=128,text_config.head_dim=64,text_config.rope_parameters=null", None), (None, "vision_config.standardize=true,vision_config.use_clipped_linears=false,vision_config.head_dim=80", None),
    (None, "audio_config.hidden_size=60,audio_config.subsampling_conv_channels=[10,6],audio_config.use_clipped_linears=false,audio_config.output_proj_dims=7", None), (None, "vision_config.rope_parameters.rope_type=\"linear\"", None),
    (None, 'text_config.layer_types=["full_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention","sliding_attention"]', None), (None, "vision_config={},audio_config={},text_config={\"num_hidden_layers\":2}", None),
    (None, "text_config.use_bidirectional_attention=\"all\"", None), (None, 'text_config.rope_parameters={"full_attention":{"rope_type":"proportional","partial_rotary_factor":0.5,"rope_theta":10000.0}}', None),
]

LLAMA4 = [(None, None, None), (None, "text_config.tie_word_embeddings=true", None), (None, "tie_word_embeddings=true", None)]
LLAMA4 += [
    (None, "text_config.moe_layers=[0,3],text_config.attention_bias=true", None), (None, "text_config.moe_layers=[]", None), (None, "text_config.interleave_moe_layer_step=3,text_config.intermediate_size_mlp=96", None),
    (None, "text_config.no_rope_layers=[1,0]", None), (None, "text_config.head_dim=null,text_config.num_key_value_heads=null", None), (None, "text_config.attention_chunk_size=null", None),
    (None, "vision_config={\"num_hidden_layers\":1,\"hidden_size\":80,\"num_attention_heads\":3,\"image_size\":30,\"patch_size\":7,\"num_channels\":1}", None),
    (None, "vision_config={\"num_hidden_layers\":1,\"projector_input_dim\":32,\"projector_output_dim\":48,\"vision_output_dim\":40,\"intermediate_size\":24,\"pixel_shuffle_ratio\":0.25}", None), (None, "vision_config=null,text_config={\"num_hidden_layers\":1}", None),
    (None, "vision_config.pixel_shuffle_ratio=0.0", None),
]

FAMILIES = {
    "starcoder2": ("bigcode--starcoder2-3b", "num_hidden_layers=2", STARCODER2),
    "phi": ("microsoft--phi-1", "num_hidden_layers=2", PHI),
    "stablelm": ("stabilityai--stablelm-2-zephyr-1_6b", "num_hidden_layers=2", STABLELM),
    "persimmon": ("adept--persimmon-8b-base", "num_hidden_layers=2", PERSIMMON),
    "cohere": ("CohereLabs--aya-expanse-8b", "num_hidden_layers=2", COHERE),
    "cohere2": ("CohereLabs--c4ai-command-r7b-12-2024", "num_hidden_layers=2", COHERE2),
    "glm": ("zai-org--glm-4-9b-chat-hf", "num_hidden_layers=2", GLM),
    "glm4": ("zai-org--GLM-4-9B-0414", "num_hidden_layers=2", GLM4),
    "ernie4_5": ("baidu--ERNIE-4.5-0.3B-PT", "num_hidden_layers=2", ERNIE4_5),
    "hunyuan_v1_dense": ("tencent--Hunyuan-7B-Instruct", "num_hidden_layers=2", HUNYUAN_V1_DENSE),
    "granite": ("ibm-granite--granite-guardian-3.0-2b", "num_hidden_layers=2", GRANITE),
    "llama4": ("meta-llama--Llama-4-Maverick-17B-128E-Instruct", "text_config.num_hidden_layers=4,text_config.num_local_experts=4,vision_config.num_hidden_layers=2", LLAMA4),
    "gemma4": ("google--gemma-4-E2B-it", "text_config.num_hidden_layers=6,text_config.layer_types=null,text_config.num_kv_shared_layers=0,vision_config.num_hidden_layers=2,audio_config.num_hidden_layers=2", GEMMA4),
    "gemma3_text": ("google--gemma-3-1b-it", "num_hidden_layers=2", GEMMA3),
    "gpt2": ("openai-community--gpt2", "n_layer=2", GPT2),
    "lfm2": ("LiquidAI--LFM2-350M", "num_hidden_layers=3", LFM2),
    "lfm2_moe": ("LiquidAI--LFM2-8B-A1B", 'num_hidden_layers=3,layer_types=["conv","full_attention","conv"]', LFM2_MOE),
    "llama": ("meta-llama--Llama-3.2-1B", "num_hidden_layers=2", LLAMA),
    "mistral": ("mistralai--Mistral-7B-v0.3", "num_hidden_layers=2", MISTRAL),
    "qwen2": ("Qwen--Qwen2.5-0.5B", "num_hidden_layers=2", QWEN2),
    "qwen3": ("Qwen--Qwen3-0.6B", "num_hidden_layers=2", QWEN3),
    "mixtral": ("mistralai--Mixtral-8x7B-v0.1", "num_hidden_layers=2", MIXTRAL),
    "qwen3_moe": ("Qwen--Qwen3-30B-A3B", "num_hidden_layers=2", QWEN3_MOE),
    "granitemoe": ("ibm-granite--granite-3.0-1b-a400m-base", "num_hidden_layers=2", GRANITEMOE),
    "qwen2_moe": ("Qwen--Qwen1.5-MoE-A2.7B-Chat", "num_hidden_layers=2", QWEN2_MOE),
    "gpt_oss": ("openai--gpt-oss-20b", 'num_hidden_layers=2,layer_types=["sliding_attention","full_attention"]', GPT_OSS),
    "bert": ("google-bert--bert-base-uncased", "num_hidden_layers=2", BERT),
    "t5": ("google-t5--t5-small", "num_layers=2,num_decoder_layers=2", T5),
    "falcon_mamba": ("tiiuae--falcon-mamba-7b-instruct", "num_hidden_layers=2", FALCON_MAMBA),
    "mamba2": ("mistralai--Mamba-Codestral-7B-v0.1", "num_hidden_layers=2", MAMBA2),
    "mamba": ("state-spaces--mamba-130m-hf", "num_hidden_layers=2", MAMBA),
    "gemma": ("google--gemma-2b", "num_hidden_layers=2", GEMMA),
    "gemma2": ("google--gemma-2-2b-it", "num_hidden_layers=2", GEMMA2),
    "phi3": ("microsoft--Phi-3-mini-4k-instruct", "num_hidden_layers=2", PHI3),
    "roberta": ("FacebookAI--roberta-large", "num_hidden_layers=2", ROBERTA),
    "xlm-roberta": ("FacebookAI--xlm-roberta-base", "num_hidden_layers=2", XLM_ROBERTA),
    "bart": ("facebook--bart-base", "encoder_layers=2,decoder_layers=2,num_hidden_layers=2", BART),
    "opt": ("facebook--opt-125m", "num_hidden_layers=2", OPT),
    "gpt_neox": ("EleutherAI--pythia-70m", "num_hidden_layers=2", GPT_NEOX),
    "gptj": ("EleutherAI--gpt-j-6b", "n_layer=2", GPTJ),
    "gpt_neo": ("EleutherAI--gpt-neo-2.7B", 'num_layers=2,attention_types=[[["global","local"],1]],attention_layers=["global","local"]', GPT_NEO),
    "gpt_bigcode": ("bigcode--santacoder", "n_layer=2", GPT_BIGCODE),
    "codegen": ("Salesforce--codegen-2B-mono", "n_layer=2", CODEGEN),
    "falcon": ("tiiuae--falcon-rw-1b", "num_hidden_layers=2", FALCON),
    "bloom": ("bigscience--bloom-560m", "n_layer=2", BLOOM),
    "mpt": ("mosaicml--mpt-7b", "n_layers=2", MPT),
    "xglm": ("facebook--xglm-564M", "num_layers=2", XGLM),
    "deberta-v2": ("microsoft--deberta-v3-base", "num_hidden_layers=2", DEBERTA_V2),
    "distilbert": ("distilbert--distilbert-base-uncased", "n_layers=2", DISTILBERT),
    "electra": ("google--electra-small-discriminator", "num_hidden_layers=2", ELECTRA),
    "mpnet": ("microsoft--mpnet-base", "num_hidden_layers=2", MPNET),
    "megatron-bert": ("IDEA-CCNL--Erlangshen-MegatronBert-1.3B", "num_hidden_layers=2", MEGATRON_BERT),
    "mt5": ("google--mt5-small", "num_layers=2,num_decoder_layers=2", MT5),
    "umt5": ("google--umt5-xxl", "num_layers=2,num_decoder_layers=2", UMT5),
    "mbart": ("facebook--mbart-large-50-many-to-many-mmt", "encoder_layers=2,decoder_layers=2,num_hidden_layers=2", MBART),
    "marian": ("Helsinki-NLP--opus-mt-en-zh", "encoder_layers=2,decoder_layers=2,num_hidden_layers=2", MARIAN),
    "m2m_100": ("facebook--nllb-200-distilled-600M", "encoder_layers=2,decoder_layers=2,num_hidden_layers=2", M2M_100),
    "modernbert": ("answerdotai--ModernBERT-base", "num_hidden_layers=2", MODERNBERT),
}
# Families with fewer settings of their own: model_type: (configuration, shallow edit, classes, edits).
MORE = {
    "minicpm3": ("openbmb--MiniCPM3-4B", 'num_hidden_layers=2',
        ('MiniCPM3Model', 'MiniCPM3ForCausalLM', 'MiniCPM3ForSequenceClassification'),
        ('tie_word_embeddings=false', 'attention_bias=true', 'mlp_bias=true')),
    "albert": ("albert--albert-base-v1", 'num_hidden_layers=2',
        ('AlbertModel', 'AlbertForPreTraining', 'AlbertForMaskedLM', 'AlbertForSequenceClassification'),
        ('embedding_size=64', 'embedding_size=129', 'tie_word_embeddings=false')),
    "apertus": ("swiss-ai--Apertus-8B-2509", 'num_hidden_layers=2',
        ('ApertusModel', 'ApertusForCausalLM', 'ApertusForTokenClassification'),
        ('hidden_act="gelu"', 'tie_word_embeddings=true', 'attention_bias=true')),
    "arcee": ("arcee-ai--AFM-4.5B", 'num_hidden_layers=2',
        ('ArceeForCausalLM', 'ArceeForQuestionAnswering', 'ArceeForSequenceClassification', 'ArceeForTokenClassification'),
        ('tie_word_embeddings=true', 'attention_bias=true', 'mlp_bias=true')),
    "bamba": ("ibm-ai-platform--Bamba-9B-v1", 'num_hidden_layers=2',
        ('BambaModel', 'BambaForCausalLM'),
        ('tie_word_embeddings=true', 'mamba_d_state=64', 'mamba_d_state=129')),
    "big_bird": ("google--bigbird-roberta-base", 'num_hidden_layers=2',
        ('BigBirdForCausalLM', 'BigBirdForMaskedLM', 'BigBirdForMultipleChoice', 'BigBirdForPreTraining'),
        ('use_bias=false', 'tie_word_embeddings=false')),
    "bitnet": ("microsoft--bitnet-b1.58-2B-4T", 'num_hidden_layers=2',
        ('BitNetForCausalLM', 'BitNetModel'),
        ('attention_bias=true', 'head_dim=48')),
    "dbrx": ("databricks--dbrx-base", 'n_layers=2',
        ('DbrxForCausalLM', 'DbrxModel'),
        ('d_model=3072', 'd_model=6145', 'n_heads=24')),
    "deepseek_v2": ("deepseek-ai--DeepSeek-V2-Lite", 'num_hidden_layers=4',
        ('DeepseekV2Model', 'DeepseekV2ForCausalLM', 'DeepseekV2ForSequenceClassification'),
        ('tie_word_embeddings=true', 'attention_bias=true', 'mlp_bias=true')),
    "deepseek_v3": ("moonshotai--Moonlight-16B-A3B", 'num_hidden_layers=4',
        ('DeepseekV3Model', 'DeepseekV3ForCausalLM', 'DeepseekV3ForSequenceClassification', 'DeepseekV3ForTokenClassification'),
        ('n_shared_experts=3', 'n_routed_experts=32', 'n_routed_experts=65')),
    "deepseek_v32": ("deepseek-ai--DeepSeek-V3.2", 'num_hidden_layers=4',
        ('DeepseekV32Model', 'DeepseekV32ForCausalLM'),
        ('n_routed_experts=128', 'n_routed_experts=257', 'kv_lora_rank=256')),
    "deepseek_v4": ("deepseek-ai--DeepSeek-V4-Flash", 'num_hidden_layers=4',
        (),
        ()),
    "dots1": ("rednote-hilab--dots.llm1.inst", 'num_hidden_layers=4',
        ('Dots1Model', 'Dots1ForCausalLM'),
        ('n_shared_experts=1', 'n_shared_experts=3', 'n_routed_experts=64')),
    "ernie4_5_moe": ("baidu--ERNIE-4.5-21B-A3B-Thinking", 'num_hidden_layers=4',
        ('Ernie4_5_MoeForCausalLM', 'Ernie4_5_MoeModel'),
        ('tie_word_embeddings=false', 'use_bias=true', 'moe_num_experts=32')),
    "exaone4": ("LGAI-EXAONE--EXAONE-4.0-32B", 'num_hidden_layers=4,layer_types=["sliding_attention","sliding_attention","sliding_attention","full_attention"]',
        ('Exaone4Model', 'Exaone4ForCausalLM', 'Exaone4ForSequenceClassification', 'Exaone4ForTokenClassification'),
        ('tie_word_embeddings=true', 'partial_rotary_factor=0.5', 'head_dim=48')),
    "falcon_h1": ("tiiuae--Falcon-H1-0.5B-Base", 'num_hidden_layers=2',
        ('FalconH1Model', 'FalconH1ForCausalLM'),
        ('tie_word_embeddings=true', 'mamba_d_state=64', 'mamba_d_state=129')),
    "glm4_moe": ("zai-org--GLM-4.5-Air", 'num_hidden_layers=4',
        ('Glm4MoeModel', 'Glm4MoeForCausalLM'),
        ('tie_word_embeddings=true', 'n_routed_experts=64', 'n_routed_experts=129')),
    "glm4_moe_lite": ("zai-org--GLM-4.7-Flash", 'num_hidden_layers=4',
        ('Glm4MoeLiteModel', 'Glm4MoeLiteForCausalLM'),
        ('n_routed_experts=32', 'n_routed_experts=65', 'kv_lora_rank=256')),
    "glm_moe_dsa": ("nvidia--GLM-5.2-NVFP4", 'num_hidden_layers=4,indexer_types=["full","full","full","shared"],layer_types=["deepseek_sparse_attention","deepseek_sparse_attention","deepseek_sparse_attention","deepseek_sparse_attention"],mlp_layer_types=["dense","dense","dense","sparse"]',
        ('GlmMoeDsaModel', 'GlmMoeDsaForCausalLM'),
        ('kv_lora_rank=256', 'kv_lora_rank=513', 'q_lora_rank=1024')),
    "granitemoehybrid": ("ibm-granite--granite-4.0-h-micro", 'num_hidden_layers=6,layer_types=["mamba","mamba","mamba","mamba","mamba","attention"]',
        ('GraniteMoeHybridForCausalLM', 'GraniteMoeHybridModel'),
        ('attention_bias=true', 'mamba_d_state=64', 'mamba_d_state=129')),
    "hunyuan_v1_moe": ("tencent--Hunyuan-A13B-Instruct", 'num_hidden_layers=4,moe_intermediate_size=[3072,3072,3072,3072],moe_topk=[8,8,8,8],num_shared_expert=[1,1,1,1]',
        ('HunYuanMoEV1ForCausalLM', 'HunYuanMoEV1Model', 'HunYuanMoEV1ForSequenceClassification'),
        ('attention_bias=true', 'num_experts=32', 'num_experts=65')),
    "jamba": ("ai21labs--AI21-Jamba-Mini-1.5", 'num_hidden_layers=4',
        ('JambaForCausalLM', 'JambaForSequenceClassification', 'JambaModel'),
        ('tie_word_embeddings=true', 'num_experts=8', 'num_experts=17')),
    "laguna": ("poolside--Laguna-XS.2-FP8", 'num_hidden_layers=4,layer_types=["full_attention","sliding_attention","sliding_attention","sliding_attention"],mlp_layer_types=["dense","sparse","sparse","sparse"],num_attention_heads_per_layer=[48,64,64,64]',
        ('LagunaForCausalLM', 'LagunaModel'),
        ('tie_word_embeddings=true', 'num_experts=128', 'num_experts=257')),
    "longformer": ("allenai--longformer-base-4096", 'num_hidden_layers=2,attention_window=[512,512]',
        ('LongformerForMaskedLM', 'LongformerForMultipleChoice', 'LongformerForQuestionAnswering', 'LongformerForSequenceClassification', 'LongformerForTokenClassification', 'LongformerModel'),
        ('attention_window=64', 'attention_window=63', 'attention_window=[512]', 'attention_window=0', 'attention_window=null', '-attention_window', 'num_hidden_layers=0,attention_window=[]',
         'tie_word_embeddings=false', 'pad_token_id=null', 'pad_token_id=99999999', 'num_attention_heads=5', 'max_position_embeddings=7', 'type_vocab_size=3', '-type_vocab_size', '-vocab_size',
         'is_decoder=true', 'hidden_act="nosuch"', 'classifier_dropout=0.5')),
    "mimo_v2_flash": ("XiaomiMiMo--MiMo-V2-Flash", 'num_hidden_layers=4,hybrid_layer_pattern=[0,1,1,1],moe_layer_freq=[0,1,1,1]',
        ('MiMoV2FlashForCausalLM', 'MiMoV2FlashModel'),
        ('tie_word_embeddings=true', 'attention_bias=true', 'n_routed_experts=128')),
    "minimax_m2": ("MiniMaxAI--MiniMax-M2.5", 'num_hidden_layers=4',
        ('MiniMaxM2ForCausalLM', 'MiniMaxM2Model'),
        ('head_dim=64', 'head_dim=129', 'tie_word_embeddings=true')),
    "nemotron": ("nvidia--Minitron-4B-Base", 'num_hidden_layers=2',
        ('NemotronForQuestionAnswering', 'NemotronForCausalLM', 'NemotronModel', 'NemotronForSequenceClassification'),
        ('head_dim=64', 'head_dim=129', 'tie_word_embeddings=true')),
    "nemotron_h": ("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B", 'num_hidden_layers=8,hybrid_override_pattern="MEMEM*EM"',
        ('NemotronHModel', 'NemotronHForCausalLM'),
        ('layers_block_type=[]', 'head_dim=64', 'head_dim=129')),
    "nomic_bert": ("nomic-ai--nomic-embed-text-v1.5", 'n_layer=2',
        ('NomicBertModel', 'NomicBertForMaskedLM', 'NomicBertForSequenceClassification', 'NomicBertForTokenClassification'),
        ('head_dim=32', 'head_dim=48')),
    "olmo": ("allenai--OLMo-1B-hf", 'num_hidden_layers=2',
        ('OlmoForCausalLM', 'OlmoForSequenceClassification', 'OlmoModel'),
        ('attention_bias=true', 'head_dim=48')),
    "olmo2": ("allenai--OLMo-2-0425-1B", 'num_hidden_layers=2',
        ('Olmo2ForCausalLM', 'Olmo2ForSequenceClassification', 'Olmo2Model'),
        ('tie_word_embeddings=true', 'attention_bias=true', 'head_dim=48')),
    "olmo3": ("allenai--Olmo-3-1025-7B", 'num_hidden_layers=2',
        ('Olmo3ForCausalLM', 'Olmo3ForSequenceClassification', 'Olmo3Model'),
        ('tie_word_embeddings=true', 'attention_bias=true', 'head_dim=48')),
    "olmoe": ("allenai--OLMoE-1B-7B-0125-Instruct", 'num_hidden_layers=4',
        ('OlmoeForCausalLM', 'OlmoeModel'),
        ('tie_word_embeddings=true', 'attention_bias=true', 'num_experts=32')),
    "pegasus": ("google--pegasus-large", 'encoder_layers=2,decoder_layers=2,num_hidden_layers=2',
        ('PegasusForCausalLM',),
        ()),
    "phimoe": ("microsoft--Phi-tiny-MoE-instruct", 'num_hidden_layers=4',
        ('PhimoeModel', 'PhimoeForCausalLM', 'PhimoeForSequenceClassification'),
        ('tie_word_embeddings=true', 'num_local_experts=8', 'num_local_experts=17')),
    "qwen3_next": ("Qwen--Qwen3-Next-80B-A3B-Instruct", 'num_hidden_layers=4',
        ('Qwen3NextForCausalLM', 'Qwen3NextForQuestionAnswering', 'Qwen3NextModel', 'Qwen3NextForSequenceClassification'),
        ('tie_word_embeddings=true', 'attention_bias=true', 'head_dim=128')),
    "recurrent_gemma": ("google--recurrentgemma-2b", 'num_hidden_layers=3',
        ('RecurrentGemmaForCausalLM', 'RecurrentGemmaModel'),
        ('lru_width=1280', 'lru_width=2561', 'conv1d_width=2')),
    "rwkv": ("RWKV--rwkv-4-169m-pile", 'num_hidden_layers=2',
        ('RwkvForCausalLM', 'RwkvModel'),
        ('tie_word_embeddings=true',)),
    "seed_oss": ("ByteDance-Seed--Seed-OSS-36B-Instruct", 'num_hidden_layers=2',
        ('SeedOssForCausalLM', 'SeedOssForQuestionAnswering', 'SeedOssModel', 'SeedOssForSequenceClassification'),
        ('tie_word_embeddings=true', 'attention_bias=false', 'attention_out_bias=true')),
    "smollm3": ("HuggingFaceTB--SmolLM3-3B", 'num_hidden_layers=2,layer_types=["full_attention","full_attention"],no_rope_layers=[1,1]',
        ('SmolLM3Model', 'SmolLM3ForCausalLM', 'SmolLM3ForSequenceClassification', 'SmolLM3ForTokenClassification'),
        ('attention_bias=true', 'mlp_bias=true', 'tie_word_embeddings=false')),
    "xlstm": ("NX-AI--xLSTM-7b", 'num_blocks=2',
        ('xLSTMForCausalLM', 'xLSTMModel'),
        ('weight_mode="fused"', 'weight_mode="fused",use_bias=true', 'use_bias=true', 'weight_mode="other"', 'tie_word_embeddings=true', 'num_heads=3', 'num_heads=0', 'num_heads=5000',
         'qk_dim_factor=0.3', 'v_dim_factor=0.7', 'v_dim_factor=2', 'ffn_proj_factor=1.3', 'ffn_round_up_to_multiple_of=7', 'ffn_round_up_to_multiple_of=0', 'hidden_size=96', 'hidden_size=96,embedding_dim=96',
         'hidden_size=null,embedding_dim=128', '-embedding_dim', '-num_blocks,num_hidden_layers=3', 'num_hidden_layers=3', 'num_blocks=0', 'num_blocks=null,num_hidden_layers=1', '-vocab_size',
         'add_out_norm=false', 'mode="train"', 'mode="other"', 'chunkwise_kernel="other"', 'inference_state_dtype="float64"', 'qk_dim_factor=null', 'chunk_size=null')),
    "zamba2": ("Zyphra--Zamba2-1.2B-instruct", 'num_hidden_layers=6,layers_block_type=["mamba","mamba","mamba","mamba","mamba","hybrid"]',
        (),
        ()),
}
FAMILIES |= {kind: (name, shallow, [(c, None, None) for c in classes] + [(None, edit, None) for edit in edits])
             for kind, (name, shallow, classes, edits) in MORE.items() if kind not in FAMILIES}
FURTHER = [
    ("llama4", "meta-llama--Llama-4-Scout-17B-16E-Instruct", "Llama4ForCausalLM", 'model_type="llama4_text",-text_config,num_hidden_layers=2,num_local_experts=4', None),
    ("llama4", "meta-llama--Llama-4-Scout-17B-16E-Instruct", "Llama4TextModel", 'model_type="llama4_text",-text_config,num_hidden_layers=2,num_local_experts=4,hidden_size=80,head_dim=null,rope_parameters={"rope_type":"linear","factor":2.0,"rope_theta":10000.0}', None),
    ("gemma4", "google--gemma-4-E2B-it", "Gemma4ForCausalLM", 'model_type="gemma4_text",-text_config,-vision_config,-audio_config,num_hidden_layers=7,num_kv_shared_layers=1,layer_types=["full_attention","sliding_attention","full_attention","sliding_attention","full_attention","sliding_attention","full_attention"]', None),
    ("gemma4", "google--gemma-4-E2B-it", "Gemma4TextModel", 'model_type="gemma4_text",-text_config,-vision_config,-audio_config,num_hidden_layers=12,num_kv_shared_layers=6,use_double_wide_mlp=true,head_dim=32', None),
    ("gemma4", "google--gemma-4-12B-it", None, "text_config.num_hidden_layers=6,text_config.layer_types=null,vision_config.patch_size=8,audio_config.audio_embed_dim=64", None),
    ("gemma4", "google--gemma-4-12B-it", "Gemma4UnifiedModel", "text_config.num_hidden_layers=6,text_config.layer_types=null,vision_config=null,audio_config=null,text_config.num_kv_shared_layers=0,text_config.attention_k_eq_v=false", None),
    ("gemma4", "google--gemma-4-12B-it", "Gemma4UnifiedForCausalLM", 'model_type="gemma4_unified_text",-text_config,-vision_config,-audio_config,num_hidden_layers=2', None),
    ("gpt2", "distilbert--distilgpt2", "GPT2DoubleHeadsModel", None, None), ("gpt2", "distilbert--distilgpt2", "GPT2ForSequenceClassification", None, None),
    ("gpt2", "distilbert--distilgpt2", None, None, "n_layer=2"), ("gpt2", "openai-community--gpt2-xl", "GPT2ForTokenClassification", None, None),
    ("llama", "huggyllama--llama-7b", "LlamaForCausalLM", "-num_key_value_heads", "num_hidden_layers=2"),
    ("llama", "meta-llama--Meta-Llama-3-8B", "LlamaForSequenceClassification", None, None), ("llama", "meta-llama--Llama-3.2-1B", "LlamaModel", None, None),
    ("llama", "SpecForge--llama3-8B-eagle3", "LlamaModel", None, None), ("llama", "TinyLlama--TinyLlama-1.1B-Chat-v1.0", "LlamaForQuestionAnswering", None, None),
    ("mistral", "mistralai--Mistral-Nemo-Instruct-2407", None, "head_dim=null", "num_hidden_layers=2"),
    ("mistral", "mistralai--Mistral-Nemo-Instruct-2407", None, "-head_dim", "num_hidden_layers=2"),
    ("mistral", "mistralai--Mistral-Nemo-Instruct-2407", None, None, "num_hidden_layers=2,head_dim=null"),
    ("mistral", "mistralai--Ministral-8B-Instruct-2410", "MistralForTokenClassification", None, None),
    ("qwen2", "Qwen--Qwen2.5-7B", "Qwen2ForSequenceClassification", None, None), ("qwen2", "Qwen--Qwen2-0.5B", None, None, "num_hidden_layers=2,tie_word_embeddings=false"),
    ("qwen3", "Qwen--Qwen3-8B", "Qwen3ForSequenceClassification", None, None), ("qwen3", "Qwen--Qwen3-Embedding-0.6B", "Qwen3Model", None, None),
    ("mixtral", "mistralai--Mixtral-8x22B-v0.1", "MixtralModel", None, None), ("mixtral", "hpcai-tech--grok-1", None, None, "num_hidden_layers=2"),
    ("bert", "jinaai--jina-embeddings-v2-base-en", "BertModel", None, None), ("bert", "BAAI--bge-small-en-v1.5", "BertForSequenceClassification", None, None),
    ("bert", "sentence-transformers--all-MiniLM-L6-v2", "BertForMaskedLM", None, None), ("bert", "google-bert--bert-base-uncased", "BertForPreTraining", None, None),
    ("t5", "google--byt5-small", "T5EncoderModel", None, None), ("t5", "google--byt5-small", None, "-is_gated_act,-dense_act_fn", None),
    ("t5", "google--flan-t5-small", "T5ForQuestionAnswering", None, None), ("t5", "google--flan-t5-small", None, 'feed_forward_proj="relu"', None),
    ("gemma2", "google--gemma-2-27b-it", "Gemma2ForSequenceClassification", None, None), ("phi3", "microsoft--Phi-4-mini-instruct", "Phi3Model", None, None),
    ("phi3", "microsoft--Phi-3.5-mini-instruct", None, "-original_max_position_embeddings", "num_hidden_layers=2"),
    ("t5", "google--flan-t5-small", None, None, "num_layers=2,num_decoder_layers=3"), ("t5", "google-t5--t5-11b", "T5ForSequenceClassification", None, None),
]


def file_of(configs, name):
    return configs / (name + ".json")


def family_of(file):
    """The family of a configuration file, or None: its model_type, or the class it names where it has none."""
    try:
        raw = json.loads(file.read_text())
    except (UnicodeDecodeError, json.JSONDecodeError):
        return None
    if not isinstance(raw, dict):
        return None
    if raw.get("model_type") in FAMILIES:
        return raw["model_type"]
    if "model_type" not in raw:
        for name in raw.get("architectures") or []:
            cls = getattr(record.transformers, name, None)
            kind = getattr(getattr(cls, "config_class", None), "model_type", None)
            if kind in FAMILIES:
                return kind
    return None


def cases(configs, recorded, only):
    for family, (name, shallow, rows) in FAMILIES.items():
        if only not in (None, family):
            continue
        for cls, edit, over in rows:
            yield name, ",".join(x for x in (shallow, edit) if x), over, cls
        for kind, other, cls, edit, over in FURTHER:
            if kind == family:
                yield other, edit, over, cls
        for file in sorted(configs.rglob("*.json")):
            if record.label(file) not in recorded and family_of(file) == family:
                yield record.label(file), None, None, None


def row(configs, name, edit, over, cls):
    stated = {k: v for k, v in (("what", "params"), ("over", over), ("edit", edit), ("class", cls)) if v}
    key = hashlib.sha256(json.dumps({**stated, "config": name}, sort_keys=True).encode()).hexdigest()[:12]
    try:
        r = record.params(file_of(configs, name), over or "none", edit or "none", cls or "none")
    except Exception as e:  # a refusal is a record
        r = {"config": name, "case": stated, "error": record.said(e, 200)}
    return {"key": key, **r}


def main():
    p = argparse.ArgumentParser()
    p.add_argument("out", type=pathlib.Path)
    p.add_argument("--configs", type=pathlib.Path, required=True)
    p.add_argument("--recorded", type=pathlib.Path)
    p.add_argument("--only", choices=FAMILIES)
    a = p.parse_args()
    logging.disable(logging.CRITICAL)
    recorded = {json.loads(x)["config"] for x in a.recorded.read_text().splitlines()} if a.recorded else set()
    seen, good, refused = set(), 0, 0
    with a.out.open("w") as f:
        for name, edit, over, cls in cases(a.configs, recorded, a.only):
            if (name, edit, over, cls) in seen:
                raise SystemExit(f"twice: {name} {edit} {over} {cls}")
            seen.add((name, edit, over, cls))
            r = row(a.configs, name, edit, over, cls)
            good, refused = good + ("error" not in r), refused + ("error" in r)
            f.write(json.dumps(r, separators=(",", ":")) + "\n")
    print(f"{good} recorded, {refused} refused")


if __name__ == "__main__":
    main()
