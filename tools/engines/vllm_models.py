"""What one vLLM version knows of models, quantization, caches, attention and parsers, from its source.

Rows: {"arch", "class", "group", "facts"}, {"gone", "last"}, {"quant", "class", "capability", "dtypes"}, {"list", "values"},
{"config", "fields"}. `facts` is what the registry asks of a class: pp, lora, multimodal, hybrid, attention-free, text, pooling, …
"""
import ast

from python_source import UNKNOWN
from vllm_flags import fields, hints

GROUPS = {"_TEXT_GENERATION_MODELS": "text", "_GENERATION_MODELS": "text", "_DECODER_ONLY": "text", "_EMBEDDING_MODELS": "embedding", "_LATE_INTERACTION_MODELS": "embedding",
          "_REWARD_MODELS": "reward", "_TOKEN_CLASSIFICATION_MODELS": "classify", "_SEQUENCE_CLASSIFICATION_MODELS": "classify", "_CROSS_ENCODER_MODELS": "classify",
          "_MULTIMODAL_MODELS": "multimodal", "_SPECULATIVE_DECODING_MODELS": "draft", "_TRANSFORMERS_SUPPORTED_MODELS": "transformers",
          "_TRANSFORMERS_BACKEND_MODELS": "transformers-backend", "_TRANSFORMERS_MODELS": "transformers-backend"}
FACTS = {"supports_pp": "pp", "supports_lora": "lora", "supports_multimodal": "multimodal", "is_hybrid": "hybrid", "is_attention_free": "attention-free",
         "has_inner_state": "inner-state", "has_noops": "noops", "is_pooling_model": "pooling", "supports_mamba_prefix_caching": "mamba-prefix-caching",
         "supports_transcription_only": "transcription-only", "supports_replayssm": "replayssm", "requires_raw_input_tokens": "raw-tokens",
         "supports_multimodal_raw_input_only": "raw-input-only", "supports_cross_encoding": "cross-encoding", "supports_v0_only": "v0-only"}


def facts_of(package, module_name, class_name):
    module = package.tree(module_name)
    if not module.line_of_descent(class_name):
        return None
    out = sorted(word for attribute, word in FACTS.items() if module.class_value(class_name, attribute) is True)
    if module.method(class_name, "compute_logits"):
        out.append("text")
    if module.method(class_name, "make_empty_intermediate_tensors") and "pp" not in out:
        pass
    for attribute, word in (("default_seq_pooling_type", "seq"), ("default_tok_pooling_type", "tok"), ("attn_type", "attn"), ("default_pooling_type", "seq"), ("score_type", "score")):
        value = module.class_value(class_name, attribute)
        if isinstance(value, str):
            out.append(f"{word}={value}")
    return out


def architectures(package):
    module = package.tree("vllm.model_executor.models.registry")
    if not package.has("vllm.model_executor.models.registry"):
        module = package.tree("vllm.model_executor.models")
    rows, known = [], {}
    for table, group in GROUPS.items():
        if table not in module.constants:
            continue
        for arch, where in (module.value(module.constants[table]) or {}).items():
            if not isinstance(where, (list, tuple)) or len(where) < 2 or not all(isinstance(w, str) for w in where[:2]):
                continue
            path = where[0] if where[0].startswith("vllm.") else "vllm.model_executor.models." + where[0]
            if where not in known.values():
                pass
            facts = facts_of(package, path, where[1])
            row = {"arch": arch, "class": where[1], "group": group}
            if facts is not None:
                row["facts"] = " ".join(facts)
            # one architecture in two tables is one entry of the merged table: the later one counts
            rows = [r for r in rows if r["arch"] != arch]
            rows.append(row)
    for table, word in (("_PREVIOUSLY_SUPPORTED_MODELS", "last"), ("_OOT_SUPPORTED_MODELS", "plugin")):
        if table in module.constants:
            for arch, value in (module.value(module.constants[table]) or {}).items():
                rows.append({"gone": arch, word: value if isinstance(value, str) else ""})
    return rows


def returned(package, found):
    if not found:
        return UNKNOWN
    module, node = found
    for item in node.body:
        if isinstance(item, ast.Return):
            return module.value(item.value)
    return UNKNOWN


def quantizations(package):
    if not package.has("vllm.model_executor.layers.quantization"):
        return []
    module = package.tree("vllm.model_executor.layers.quantization")
    rows, names = [], []
    for name in ("QUANTIZATION_METHODS", "QuantizationMethods"):
        if name in module.constants:
            value = module.value(module.constants[name])
            if isinstance(value, dict):
                names = list(value)
            elif isinstance(value, list):
                names = value
            if names:
                break
    table = {}
    for node in ast.walk(module.tree):
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        if isinstance(value, ast.Dict) and all(isinstance(k, ast.Constant) for k in value.keys if k) and value.values and all(isinstance(v, ast.Name) for v in value.values):
            for key, item in zip(value.keys, value.values):
                if key is not None:
                    table[key.value] = item.id
    gone = module.value(module.constants["DEPRECATED_QUANTIZATION_METHODS"]) if "DEPRECATED_QUANTIZATION_METHODS" in module.constants else []
    for name in names:
        cls = table.get(name)
        row = {"quant": name, "class": cls or ("OnlineQuantizationConfig" if "online" in names else None)}
        if row["class"]:
            capability = returned(package, module.method(row["class"], "get_min_capability"))
            dtypes = returned(package, module.method(row["class"], "get_supported_act_dtypes"))
            files = returned(package, module.method(row["class"], "get_config_filenames"))
            if isinstance(capability, int):
                row["capability"] = capability
            if isinstance(dtypes, list):
                row["dtypes"] = sorted({str(d).removeprefix("torch.").replace("half", "float16") for d in dtypes})
            if isinstance(files, list):
                row["files"] = files
        if name in (gone or []):
            row["deprecated"] = True
        rows.append(row)
    return rows


def names_registered(package, folders, decorator):
    """Names given to a manager's register_module, and the keys of its lazy table."""
    out = set()
    for path, text in package.files.items():
        if not any(path.startswith(f) for f in folders) or ("register" not in text and "_TO_REGISTER" not in text):
            continue
        module = package.tree(path.removesuffix(".py").removesuffix("/__init__").replace("/", "."))
        for key, node in module.constants.items():
            if key.endswith("_TO_REGISTER"):
                value = module.value(node)
                out |= set(value) if isinstance(value, dict) else set()
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(decorator + ".register_module"):
                for argument in list(node.args) + [k.value for k in node.keywords if k.arg == "name"]:
                    value = module.value(argument)
                    out |= {value} if isinstance(value, str) else set(value) if isinstance(value, list) else set()
    return sorted(n for n in out if isinstance(n, str))


def lists(package):
    rows = []

    def put(name, values):
        if values:
            rows.append({"list": name, "values": values})

    for path in ("vllm.v1.attention.backends.registry", "vllm.attention.backends.registry", "vllm.platforms.interface"):
        if package.has(path):
            module = package.tree(path)
            for cls in ("AttentionBackendEnum", "_Backend", "_AttentionBackendEnum"):
                members = module.enum_members(cls) if cls in module.classes else None
                if members:
                    put("attention_backends", [m[0] for m in members])
                    break
            if rows:
                break
    for path in ("vllm.config.cache", "vllm.config", "vllm.utils.torch_utils"):
        if package.has(path) and not any(r["list"] == "kv_cache_dtypes" for r in rows):
            module = package.tree(path)
            for name in ("KV_CACHE_DTYPES", "CacheDType"):
                found = module.find(name, "constants")
                if found:
                    value = found[0].value(found[1])
                    if isinstance(value, list):
                        put("kv_cache_dtypes", value)
                        break
    put("tool_parsers", names_registered(package, ("vllm/tool_parsers/", "vllm/entrypoints/openai/tool_parsers/"), "ToolParserManager"))
    put("reasoning_parsers", names_registered(package, ("vllm/reasoning/",), "ReasoningParserManager"))
    if package.has("vllm.envs"):
        module = package.tree("vllm.envs")
        found = module.constants.get("environment_variables")
        put("environment", sorted(k.value for k in found.keys if isinstance(k, ast.Constant)) if isinstance(found, ast.Dict) else [])
    factory = "vllm.distributed.kv_transfer.kv_connector.factory"
    if package.has(factory):
        names = [n.args[0].value for n in ast.walk(package.tree(factory).tree) if isinstance(n, ast.Call) and ast.unparse(n.func).endswith("register_connector") and n.args and isinstance(n.args[0], ast.Constant)]
        put("kv_connectors", sorted(names))
    models = package.tree("vllm.model_executor.models.config") if package.has("vllm.model_executor.models.config") else None
    if models and "MODELS_CONFIG_MAP" in models.constants:
        node = models.constants["MODELS_CONFIG_MAP"]
        put("model_config_hooks", [f"{k.value}={ast.unparse(v)}" for k, v in zip(node.keys, node.values) if isinstance(k, ast.Constant)])
    config = package.tree("vllm.transformers_utils.config") if package.has("vllm.transformers_utils.config") else None
    if config and "_CONFIG_REGISTRY" in config.constants:
        node = config.constants["_CONFIG_REGISTRY"]
        value = config.value(node)
        keys = list(value) if isinstance(value, dict) else []
        put("own_configs", sorted(keys))
    return rows


def configs(package, wanted):
    """The fields of configuration classes that a JSON flag fills: "name:type" or "name:type=a|b"."""
    rows = []
    for name in sorted(wanted):
        for path in ("vllm.config", "vllm.engine.arg_utils"):
            module = package.tree(path)
            if not module.find(name, "classes"):
                continue
            out = []
            for field, (where, annotation, default) in fields(module, name).items():
                parts = hints(where, annotation)
                text = default is not None and "init=False" in ast.unparse(default)
                if text or field.startswith("_"):
                    continue
                words = []
                for part in parts:
                    if isinstance(part, tuple) and part[0] == "Literal":
                        words.append("=" + "|".join(str(p) for p in part[1]))
                    elif isinstance(part, tuple):
                        words.append("config " + part[1] if part[0] == "config" else "list")
                    else:
                        words.append(part)
                out.append(field + ":" + ",".join(words))
            rows.append({"config": name, "fields": out})
            break
    return rows
