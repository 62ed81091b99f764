#!/usr/bin/env python3
"""Record what PyTorch itself does with a model, without a GPU and without weights.

The model is built from its configuration under FakeTensorMode on a pretended CUDA
device (see build_shim.py), so every operator dispatches as it would on the card, and
one training step or one forward pass is executed for real, shapes only. Recorded are
parameters, FLOPs by operator, the tensors autograd keeps, and the exact liveness of
every storage: the peak and what is alive at it.

    record.py params  CONFIG [KEY=VALUE...]       names and shapes of parameters and buffers; keys: class, edit, over
    record.py step    CONFIG KEY=VALUE...         one case, as JSON
    record.py trace   CONFIG KEY=VALUE...         the whole sequence of operators, JSON lines
    record.py batch   CASES.jsonl OUT.jsonl       many cases ({"config": path, ...keys}); resumes

Keys of a case (defaults in brackets):
    batch [1]  seq [128]  tgt [seq]   sizes of the input; tgt is the decoder's length
    dtype [float32]       parameters' dtype
    autocast [none]       none | bfloat16 | float16
    attn [sdpa]           eager | sdpa
    experts [grouped_mm]  grouped_mm | eager (eager needs real data: device=cpu)
    mode [train]          train: forward, loss, backward, optimizer step
                          forward: under no_grad, logits of every position
                          prefill: under no_grad, cache on, logits of the last position
                          decode: under no_grad, one token against a cache of `seq` tokens
                          an encoder-decoder reads `tgt` decoder tokens in all three; its decode takes
                          the encoder's output, and a cache of `tgt` tokens and the encoder's `seq`
    checkpoint [0]        1: activation checkpointing of every block, non-reentrant
    recompute [full]      full | every:2: of every second block | selective: of all but what torchtitan's choice of
                          operators gives
    lora [none]           "r=8,targets=q_proj+v_proj" (peft), with dora=1, rslora=1, saved=norm+lm_head
    freeze [none]         comma list of parameter-name prefixes that take no gradient
    optimizer [adamw_fused]  none | sgd | adamw_fused | adamw_foreach | adamw_loop | adafactor
    steps [2]             optimizer steps: the first creates the states, the last is reported
    accumulate [1]        micro-batches before an optimizer step; the last one is reported
    mask [0]              1: pass a full attention mask where the model takes one; a decode's covers the cache
    class [none]          the class to build, in place of the configuration's own
    edit [none]           changes to the configuration file before it is read
    over [none]           changes to the configuration after it was read
    device [cuda]         cuda (pretended) | cpu (real tensors; small models only)

edit and over are lists, "num_hidden_layers=2,rope_parameters.rope_type=\"linear\"": items are divided by commas, a dot
steps into an object, and a value is JSON, so commas inside its strings, arrays and objects do not divide. With edit the library
reads the changed file as its own: it derives what is missing and validates; "-KEY" takes a key out, and objects on the way
are made where they are missing or null. With over it has derived and validated already: hidden_size changes, a
head_dim derived from it does not, and only the type of the value is checked.

FLOPs: PyTorch's own counter (torch.utils.flop_counter.flop_registry). aten._grouped_mm,
which that registry lacks, is counted beside it under "flops_grouped_mm", as 2*S*K*N for
each of forward, input gradient and weight gradient, which is what the eager expert loop
adds up to.
"""
import argparse
import collections
import copy
import hashlib
import json
import math
import os
import pathlib
import re
import signal
import sys
import tempfile
import time
import traceback
import warnings
import weakref

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TRANSFORMERS_VERBOSITY", "error")
warnings.filterwarnings("ignore")
import torch  # noqa: E402
import torch.fx.experimental.symbolic_shapes  # noqa: E402,F401  (else imported within a case, whose time limit may break it)

torch.cuda.is_available = lambda: False  # FakeTensorMode would otherwise try a real allocation
FAKE_SM = int(os.environ.get("FAKE_SM", "90"))
torch.cuda.get_device_capability = lambda device=None: divmod(FAKE_SM, 10)
torch.cuda.is_bf16_supported = lambda *a, **k: FAKE_SM >= 80
torch.cuda.amp.common.amp_definitely_not_available = lambda: False  # autocast would switch itself off
import transformers  # noqa: E402
from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402
from torch.utils.flop_counter import flop_registry  # noqa: E402

transformers.logging.set_verbosity_error()

DEFAULTS = dict(batch=1, seq=128, tgt=0, dtype="float32", autocast="none", attn="sdpa", experts="grouped_mm", mode="train",
                checkpoint=0, recompute="full", lora="none", freeze="none", optimizer="adamw_fused", steps=2, accumulate=1, mask=0, over="none",
                device="cuda", edit="none")
DEFAULTS["class"] = "none"
SHORT = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.int64: "i64", torch.int32: "i32",
         torch.bool: "b8", torch.uint8: "u8", torch.float64: "f64", torch.float8_e4m3fn: "f8e4m3", torch.int8: "i8"}


# ---------------------------------------------------------------- the tracker

class Tracker(TorchDispatchMode):
    """Counts FLOPs and follows the life of every storage that operators create."""

    def __init__(self, trace=None, module_path=None):
        super().__init__()
        self.ids = {}          # address of a live storage -> id
        self.live = {}         # id -> bytes
        self.refs = {}         # id -> weak reference (kept so that its callback fires)
        self.events = []       # (op index, +/-, id, bytes)
        self.next_id = 0
        self.op = 0
        self.phase = "init"
        self.flops = collections.defaultdict(lambda: collections.Counter())
        self.grouped = collections.Counter()
        self.ops = collections.defaultdict(lambda: collections.Counter())
        self.phase_starts = []
        self.trace = trace
        self.tracing = False
        self.path = module_path or (lambda: "")
        self.freed = []
        self.pretend = True
        self.truths = {}  # masks are taken to be full: all() and sum() == numel() hold, any() does not

    def start(self, phase):
        self.phase = phase
        self.phase_starts.append((phase, self.op))

    def storage_id(self, t):
        st = t.untyped_storage()
        key = st._cdata
        sid = self.ids.get(key)
        if sid is not None:
            return sid
        sid = self.next_id
        self.next_id += 1
        n = st.nbytes()
        self.ids[key] = sid
        self.live[sid] = n
        self.events.append((self.op, 1, sid, n))

        def gone(_, key=key, sid=sid, n=n):
            self.ids.pop(key, None)
            self.live.pop(sid, None)
            self.refs.pop(sid, None)
            self.events.append((self.op, -1, sid, n))
            self.freed.append(sid)

        self.refs[sid] = weakref.ref(st, gone)
        return sid

    def spec(self, t):
        return f"{self.storage_id(t)}:{SHORT.get(t.dtype, str(t.dtype))}{list(t.shape)}"

    def describe(self, x):
        if isinstance(x, torch.Tensor):
            return self.spec(x)
        if isinstance(x, (list, tuple)):
            return [self.describe(y) for y in x]
        if isinstance(x, (int, float, bool, str)) or x is None:
            return x
        return str(x)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func.namespace == "prim":
            return func(*args, **kwargs)
        ins = [self.describe(a) for a in args] if self.tracing else None
        packet = func._overloadpacket
        name = str(packet)
        if name == "aten._local_scalar_dense" and self.pretend and args[0].untyped_storage()._cdata in self.truths:
            out = self.truths[args[0].untyped_storage()._cdata]
        else:
            out = func(*args, **kwargs)
        if name in ("aten.all", "aten.any", "aten.eq") and out.numel() == 1:
            self.truths[out.untyped_storage()._cdata] = name != "aten.any"
        flops = 0
        if packet in flop_registry:
            flops = int(flop_registry[packet](*args, **kwargs, out_val=out))
            self.flops[self.phase][name] += flops
        elif name == "aten._grouped_mm":
            a, b = args[0], args[1]
            if a.dim() == 2 and b.dim() == 3:
                g = 2 * a.shape[0] * a.shape[1] * b.shape[2]
            elif a.dim() == 2 and b.dim() == 2:
                g = 2 * a.shape[0] * a.shape[1] * b.shape[1]
            else:
                g = 2 * math.prod(a.shape) * b.shape[-1]
            self.grouped[self.phase] += g
        self.ops[self.phase][name] += 1
        freed, self.freed = self.freed, []
        outs = []
        for t in torch.utils._pytree.tree_leaves(out):
            if isinstance(t, torch.Tensor):
                outs.append(self.spec(t) if self.tracing else self.storage_id(t))
        if self.tracing:
            node = torch._C._current_autograd_node()
            row = {"i": self.op, "phase": self.phase, "module": self.path(), "op": str(func), "in": ins,
                   "kw": {k: self.describe(v) for k, v in kwargs.items() if v is not None and k not in ("device", "pin_memory", "layout")},
                   "out": outs, "flops": flops, "freed_before": freed}
            if node is not None:
                row["node"] = node.name()
            self.trace.append({k: v for k, v in row.items() if v not in (None, {}, [], 0) or k in ("i", "out")})
        self.op += 1
        return out


# ---------------------------------------------------------------- models and inputs

def changes(text):
    """The items of an edit or over list: ([key, ...], value), or ([key, ...],) for a key to take out."""
    out, at = [], 0
    if text in ("none", "", None):
        return out
    while True:
        item = re.compile(r"\s*-([^=,]+)|\s*([^=,-][^=,]*)=\s*").match(text, at)
        if item is None:
            raise ValueError(f"cannot read {text[at:]!r}: KEY=JSON or -KEY")
        if item.group(1) is not None:
            out.append((item.group(1).strip().split("."),))
            at = item.end()
        else:
            value, at = json.JSONDecoder().raw_decode(text, item.end())
            out.append((item.group(2).strip().split("."), value))
        rest = re.compile(r"\s*(,|$)").match(text, at)
        if rest is None:
            raise ValueError(f"cannot read {text[at:]!r}: a comma or the end was expected")
        at = rest.end()
        if not rest.group(1):
            return out


def edit_raw(raw, edit):
    for keys, *value in changes(edit):
        target = raw
        for k in keys[:-1]:
            if target.get(k) is None:
                target[k] = {}
            target = target[k]
        if value:
            target[keys[-1]] = value[0]
        else:
            target.pop(keys[-1], None)


def override(cfg, over):
    for keys, *value in changes(over):
        if not value:
            raise ValueError("over cannot take a key out; edit can")
        target = cfg
        for k in keys[:-1]:
            target = target[k] if isinstance(target, dict) else getattr(target, k)
        if isinstance(target, dict):
            target[keys[-1]] = value[0]
        else:
            setattr(target, keys[-1], value[0])


def load_config(path, over, edit="none"):
    path = pathlib.Path(path)
    raw = json.loads(path.read_text() if path.is_file() else (path / "config.json").read_text())
    edit_raw(raw, edit)
    if "model_type" not in raw:  # old files tell it by their class alone
        for name in raw.get("architectures") or []:
            if hasattr(transformers, name):
                raw["model_type"] = getattr(transformers, name).config_class.model_type
    with tempfile.TemporaryDirectory() as d:
        d = pathlib.Path(d) / path.stem.lower()  # configurations without a model_type are told by the name
        d.mkdir()
        (d / "config.json").write_text(json.dumps(raw))
        cfg = transformers.AutoConfig.from_pretrained(d, trust_remote_code=False)
    if hasattr(cfg, "quantization_config"):
        del cfg.quantization_config
    override(cfg, over)
    return raw, cfg


def label(path):
    """org--name of a configuration, with its component where the file is one of several."""
    path = pathlib.Path(path)
    if "--" in path.name:
        return path.name.replace(".json", "")
    return f"{path.parent.name}/{path.name}".replace(".json", "")


def model_class(raw, cfg, wanted="none"):
    if wanted != "none":
        cls = getattr(transformers, wanted, None)
        if cls is None:
            raise ValueError(f"the library has no class {wanted}")
        return cls
    for name in raw.get("architectures") or []:
        cls = getattr(transformers, name, None)
        if cls is not None:
            return cls
    for auto in ("AutoModelForCausalLM", "AutoModelForSeq2SeqLM", "AutoModelForMaskedLM", "AutoModelForImageTextToText", "AutoModel"):
        a = getattr(transformers, auto)
        if type(cfg) in a._model_mapping.keys():
            return a._model_mapping[type(cfg)]
    raise ValueError(f"no class for {raw.get('architectures')} / {type(cfg).__name__}")


def make_inputs(model, cfg, c, device):
    """Inputs of one batch by the model's own signature; labels make it return a loss."""
    import inspect
    sig = inspect.signature(model.forward).parameters
    name = type(model).__name__
    b, s = c["batch"], c["seq"]
    t = c["tgt"] or s
    inp = {}

    def ids(n, vocab=None):
        if device == "cpu":
            return torch.randint(2, max(3, (vocab or 100) - 1), (b, n), device=device)
        return torch.zeros(b, n, dtype=torch.long, device=device)

    vocab = getattr(cfg.get_text_config(), "vocab_size", 100)
    longest = getattr(getattr(cfg, "text_config", None) or cfg, "max_position_embeddings", None)
    if isinstance(longest, int) and longest < 1024 and "input_ids" in sig:
        s = min(s, longest - 2 if "oberta" in name else longest)
        t = min(t, s)
    dt = getattr(torch, c["dtype"])
    vision = getattr(cfg, "vision_config", None)
    if "input_features" in sig and "whisper" in name.lower():
        inp["input_features"] = torch.zeros(b, cfg.num_mel_bins, 2 * cfg.max_source_positions, dtype=dt, device=device)
        inp["labels"] = ids(t, vocab)
    elif "pixel_values_videos" in sig and "vjepa" in name.lower():
        inp["pixel_values_videos"] = torch.zeros(b, cfg.frames_per_clip, 3, cfg.crop_size, cfg.crop_size, dtype=dt, device=device)
        inp["skip_predictor"] = True
    elif "input_values" in sig and "input_ids" not in sig:
        inp["input_values"] = torch.zeros(b, 160 * s, dtype=dt, device=device)  # seq counts hundredths of a second
    elif "pixel_values" in sig and "input_ids" not in sig:
        size = getattr(cfg, "image_size", None) or getattr(vision, "image_size", None) or 224
        h, w = (size, size) if isinstance(size, int) else size
        inp["pixel_values"] = torch.zeros(b, getattr(cfg, "num_channels", 3), h, w, dtype=dt, device=device)
        if "labels" in sig and "ImageClassification" in name:
            inp["labels"] = torch.zeros(b, dtype=torch.long, device=device)
    elif "CLIPModel" in name or "SiglipModel" in name or "Siglip2Model" in name:
        inp["input_ids"] = ids(s, vocab)
        size = vision.image_size
        inp["pixel_values"] = torch.zeros(b, 3, size, size, dtype=dt, device=device)
        inp["return_loss"] = True
    else:
        inp["input_ids"] = ids(s, vocab)
        if "labels" in sig:
            if "SequenceClassification" in name:
                inp["labels"] = torch.zeros(b, dtype=torch.long, device=device)
            elif cfg.is_encoder_decoder:
                inp["labels"] = ids(t, vocab)
            else:
                inp["labels"] = ids(s, vocab)
    if c["mode"] != "train" and "decoder_input_ids" in sig:  # a decoder without labels is told its tokens
        inp["decoder_input_ids"] = ids(t, vocab)
    if c["mask"] and "attention_mask" in sig and "input_ids" in inp:
        more = 1 if c["mode"] == "decode" and "decoder_input_ids" not in inp else 0
        inp["attention_mask"] = torch.ones(b, s + more, dtype=torch.long, device=device)
    if "use_cache" in sig:
        inp["use_cache"] = False
    return inp


def make_optimizer(name, params):
    params = [p for p in params if p.requires_grad]
    if name == "none":
        return None
    if name == "sgd":
        return torch.optim.SGD(params, lr=1e-3, foreach=False)
    if name == "adamw_fused":
        return torch.optim.AdamW(params, lr=1e-3, fused=True)
    if name == "adamw_foreach":
        return torch.optim.AdamW(params, lr=1e-3, foreach=True)
    if name == "adamw_loop":
        return torch.optim.AdamW(params, lr=1e-3, foreach=False)
    if name == "adafactor":
        return transformers.optimization.Adafactor(params, scale_parameter=False, relative_step=False, lr=1e-3)
    raise ValueError(name)


class Ramp(list):
    """torch.linspace as constructors use it for stochastic depth: real numbers, not fake ones."""

    def tolist(self):
        return [x.item() for x in self]

    def split(self, sizes):
        out, at = [], 0
        for n in sizes:
            out.append(Ramp(self[at:at + n]))
            at += n
        return out


def build(path, c):
    import numpy
    raw, cfg = load_config(path, c["over"], c["edit"])
    if getattr(cfg, "apply_spec_augment", False):
        cfg.apply_spec_augment = False  # its masks are drawn from data
    cls = model_class(raw, cfg, c["class"])
    linspace = torch.linspace
    torch.linspace = lambda a, b, n, *_, **k: Ramp(numpy.linspace(a, b, n))
    try:
        return build_model(raw, cfg, cls, c)
    finally:
        torch.linspace = linspace


def build_model(raw, cfg, cls, c):
    kw = {"attn_implementation": c["attn"]}
    transformers.PreTrainedModel._initialize_weights = lambda *a, **k: None  # values do not matter
    with torch.device(c["device"]):
        old = torch.get_default_dtype()
        torch.set_default_dtype(getattr(torch, c["dtype"]))
        try:
            model = None
            kw["dtype"] = getattr(torch, c["dtype"])
            tries = [dict(kw, experts_implementation=c["experts"]), kw, dict(kw, attn_implementation="eager")]
            for k in tries:
                try:
                    model = cls._from_config(copy.deepcopy(cfg), **k)
                    cfg = model.config
                    break
                except (ValueError, TypeError, AttributeError, KeyError) as e:
                    error = e
            if model is None:
                raise error
        finally:
            torch.set_default_dtype(old)
    if c["freeze"] != "none":
        for n, p in model.named_parameters():
            if any(n.startswith(x) for x in c["freeze"].split(",")):
                p.requires_grad_(False)
    if c["lora"] != "none":
        import peft
        kv = dict(x.split("=") for x in c["lora"].split(","))
        t = kv["targets"]
        lc = peft.LoraConfig(r=int(kv["r"]), lora_alpha=16, lora_dropout=float(kv.get("dropout", 0)),
                             target_modules="all-linear" if t == "all-linear" else t.split("+"), task_type=kv.get("task"),
                             use_dora=kv.get("dora") == "1", use_rslora=kv.get("rslora") == "1",
                             modules_to_save=kv["saved"].split("+") if "saved" in kv else None)
        # The adapters are made where and as they must be; moving them there is what fake tensors cannot do.
        peft.tuners.tuners_utils.BaseTunerLayer._move_adapter_to_device_of_base_layer = lambda *a, **k: None
        move, torch.nn.Module.to = torch.nn.Module.to, lambda self, *a, **k: self
        with torch.device(c["device"]):
            if c["checkpoint"]:
                model.enable_input_require_grads()
            model = peft.get_peft_model(model, lc, autocast_adapter_dtype=kv.get("adapter", "float32") == "float32")
        torch.nn.Module.to = move
    if c["checkpoint"]:
        checkpoint_blocks(model, c["recompute"])
    return raw, cfg, cls, model


def checkpoint_blocks(model, how):
    kwargs = {"use_reentrant": False}
    if how == "selective":
        kwargs["context_fn"] = selective_contexts
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=kwargs)
    if how.startswith("every:"):
        from transformers.modeling_layers import GradientCheckpointingLayer
        blocks = [m for m in model.modules() if isinstance(m, GradientCheckpointingLayer)]
        for i, block in enumerate(blocks):
            block.gradient_checkpointing = (i + 1) % int(how[6:]) == 0


def selective_contexts():
    """torchtitan 0.3, distributed/activation_checkpoint.py: products and attention stay, every second mm does not."""
    from torch.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts
    from torch._functorch.partitioners import get_default_op_list
    aten = torch.ops.aten
    save = {op.default for op in get_default_op_list().compute_intensive_ops}
    save |= {aten._scaled_dot_product_cudnn_attention.default, aten.max.default, aten.topk.default}
    count = collections.Counter()

    def policy(ctx, op, *args, **kwargs):
        if op == aten.mm.default:
            count[ctx.is_recompute] += 1
        keeps = op in save and (op != aten.mm.default or count[ctx.is_recompute] % 2)
        return CheckpointPolicy.MUST_SAVE if keeps else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


def unique_numel(tensors):
    seen, total = set(), 0
    for t in tensors:
        key = id(t)
        if key not in seen:
            seen.add(key)
            total += t.numel()
    return total


# ---------------------------------------------------------------- one case

def run_case(path, keys, want_trace=False):
    c = dict(DEFAULTS)
    c.update({k: (type(DEFAULTS[k])(v)) for k, v in keys.items() if k in DEFAULTS})
    unknown = set(keys) - set(DEFAULTS) - {"config", "id"}
    if unknown:
        raise ValueError(f"unknown keys {unknown}")
    began = time.time()
    torch.manual_seed(0)
    # The library must not think that it is being traced: it then takes other ways than on a real card.
    transformers.utils.import_utils.is_fake_tensor = lambda t: False
    fake = FakeTensorMode(allow_non_fake_inputs=True) if c["device"] == "cuda" else None
    if fake:
        fake.__enter__()
    try:
        raw, cfg, cls, model = build(path, c)
        train = c["mode"] == "train"
        model.train(train)
        trace = [] if want_trace else None
        stack = []
        names = {id(m): n for n, m in model.named_modules()}
        tracker = Tracker(trace, lambda: stack[-1] if stack else "")
        tracker.pretend = fake is not None
        handles = []
        if want_trace:
            handles.append(torch.nn.modules.module.register_module_forward_pre_hook(lambda m, i: stack.append(names.get(id(m), "?"))))
            handles.append(torch.nn.modules.module.register_module_forward_hook(lambda m, i, o: (stack.pop() if stack else None, None)[1], always_call=True))
        params = dict(model.named_parameters())
        buffers = dict(model.named_buffers())
        inputs = make_inputs(model.get_base_model() if c["lora"] != "none" else model, cfg, c, c["device"])
        owner = {}
        for kind, ts in (("parameters", params.values()), ("buffers", buffers.values()), ("inputs", [v for v in inputs.values() if isinstance(v, torch.Tensor)])):
            for t in ts:
                owner.setdefault(tracker.storage_id(t), kind)
        result = {"config": label(path), "class": cls.__name__,
                  "case": {k: v for k, v in c.items() if v != DEFAULTS[k] or k in ("batch", "seq", "dtype", "mode", "attn")},
                  "torch": torch.__version__.split("+")[0], "transformers": transformers.__version__,
                  "sm": FAKE_SM if fake else None,
                  "inputs": {k: (f"{SHORT.get(v.dtype)}{list(v.shape)}" if isinstance(v, torch.Tensor) else v) for k, v in inputs.items()},
                  "parameters": unique_numel(params.values()),
                  "trainable": unique_numel([p for p in params.values() if p.requires_grad]),
                  "parameter_bytes": sum(tracker.live[i] for i in {tracker.storage_id(p) for p in params.values()}),
                  "buffer_bytes": sum(tracker.live[i] for i in {tracker.storage_id(p) for p in buffers.values()})}
        if fake:
            cast = torch.autocast("cuda", dtype=getattr(torch, c["autocast"])) if c["autocast"] != "none" else None
        else:
            cast = torch.autocast("cpu", dtype=getattr(torch, c["autocast"])) if c["autocast"] != "none" else None

        def forward(**inp):
            if cast is None:
                return model(**inp)
            with torch.autocast("cuda" if fake else "cpu", dtype=getattr(torch, c["autocast"])):
                return model(**inp)

        if train:
            run_train(c, model, forward, inputs, tracker, owner, result, params)
        else:
            run_infer(c, cfg, model, forward, inputs, tracker, owner, result)
        for h in handles:
            h.remove()
        if tracker.grouped:
            result["flops_grouped_mm"] = dict(tracker.grouped)
        result["seconds"] = round(time.time() - began, 1)
        return result, trace
    finally:
        if fake:
            fake.__exit__(None, None, None)


def keep_record(model, forward, inputs, owner, tracker):
    """A forward pass with saved-tensor hooks: what autograd keeps, by storage."""
    saved, order = {}, []

    def pack(t):
        sid = tracker.storage_id(t)
        if sid not in saved:
            saved[sid] = (tracker.live[sid], owner.get(sid))
        order.append((sid, SHORT.get(t.dtype, str(t.dtype)), list(t.shape)))
        return t.detach() if t.requires_grad else t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        out = forward(**inputs)
    loss = first_loss(out)
    extra = [(b, o) for b, o in saved.values()]
    by_dtype = collections.Counter()
    seen = set()
    for sid, dt, shape in order:
        if sid not in seen and owner.get(sid) is None:
            by_dtype[dt] += saved[sid][0]
        seen.add(sid)
    record = {"unique_bytes": sum(b for b, o in extra if o is None), "unique_count": sum(1 for b, o in extra if o is None),
              "bytes_by_dtype": dict(by_dtype), "saves": len(order),
              "of_parameters": sum(1 for b, o in extra if o == "parameters"), "of_inputs": sum(1 for b, o in extra if o == "inputs"),
              "of_buffers": sum(1 for b, o in extra if o == "buffers")}
    shapes = collections.Counter()
    seen = set()
    for sid, dt, shape in order:
        if sid not in seen and owner.get(sid) is None:
            shapes[f"{dt}{shape} {saved[sid][0]}B"] += 1
        seen.add(sid)
    record["by_shape"] = dict(shapes.most_common(60))
    del out, loss
    return record


def first_loss(out):
    loss = getattr(out, "loss", None)
    if loss is None:
        for v in (out.values() if hasattr(out, "values") else out):
            if isinstance(v, torch.Tensor) and v.is_floating_point():
                return v.float().sum()
    return loss


def peak_of(tracker, begin, end, owner):
    """Largest sum of live bytes while operators [begin, end] run, exact and rounded to 512 bytes.

    "op" is the operator that reached it, -1 where nothing rose above what lived before.
    """
    def rounded(n):
        return -(-n // 512) * 512

    upto = sum(1 for e in tracker.events if e[0] < begin)
    live = sum(sign * n for _, sign, _, n in tracker.events[:upto])
    live_r = sum(sign * rounded(n) for _, sign, _, n in tracker.events[:upto])
    best, best_r, at, op_at = live, live_r, upto, -1
    for k in range(upto, len(tracker.events)):
        op, sign, _, n = tracker.events[k]
        if op > end:
            break
        live += sign * n
        live_r += sign * rounded(n)
        if live > best:
            best, at, op_at = live, k + 1, op - begin
        best_r = max(best_r, live_r)
    alive = {}
    for _, sign, sid, n in tracker.events[:at]:
        if sign > 0:
            alive[sid] = n
        else:
            alive.pop(sid, None)
    split = collections.Counter()
    for sid, n in alive.items():
        split[owner.get(sid, "other")] += n
    return {"bytes": best, "bytes_rounded_512": best_r, "op": op_at, "split": dict(split)}


def run_train(c, model, forward, inputs, tracker, owner, result, params):
    saved_rng = torch.get_rng_state()
    with tracker:
        tracker.start("warm")
        result["saved"] = keep_record(model, forward, inputs, owner, tracker)
    torch.set_rng_state(saved_rng)
    opt = make_optimizer(c["optimizer"], list(params.values()))
    steps = max(1, c["steps"] if opt else 1)
    batches = [(k == steps - 1 and m == c["accumulate"] - 1, m == c["accumulate"] - 1) for k in range(steps) for m in range(c["accumulate"])]
    for last, before_step in batches:
        with tracker:
            tracker.flops.clear(), tracker.ops.clear(), tracker.grouped.clear()
            tracker.tracing = last and tracker.trace is not None
            begin = tracker.op
            tracker.start("forward")
            out = forward(**inputs)
            loss = first_loss(out)
            after_forward = dict(tracker.live)
            f_end = tracker.op
            tracker.start("backward")
            loss.backward()
            b_end = tracker.op
            del out, loss
            tracker.op += 1  # what died with the output belongs to no operator of the next phase
            for i in {tracker.storage_id(p.grad) for p in params.values() if p.grad is not None}:
                owner[i] = "gradients"
            if opt and before_step:
                tracker.start("optimizer")
                opt.step()
                o_end = tracker.op
                for st in opt.state.values():
                    for t in st.values():
                        if isinstance(t, torch.Tensor):
                            owner.setdefault(tracker.storage_id(t), "optimizer")
                opt.zero_grad(set_to_none=True)
            else:
                o_end = b_end
    kept = {i: n for i, n in after_forward.items() if owner.get(i) is None}
    result["live_after_forward"] = sum(kept.values())
    result["gradient_bytes"] = sum(tracker_bytes(params, lambda p: p.requires_grad))
    result["optimizer_bytes"] = sum(n for i, n in tracker.live.items() if owner.get(i) == "optimizer")
    for i in kept:
        owner.setdefault(i, "kept")
    result["peak"] = {"forward": peak_of(tracker, begin, f_end, owner), "backward": peak_of(tracker, f_end, b_end, owner)}
    if opt:
        result["peak"]["optimizer"] = peak_of(tracker, b_end + 1, o_end, owner)
    result["peak_bytes"] = max(p["bytes"] for p in result["peak"].values())
    result["flops"] = {ph: dict(v) for ph, v in tracker.flops.items()}
    result["flops_total"] = sum(sum(v.values()) for v in tracker.flops.values())
    result["ops"] = {ph: sum(v.values()) for ph, v in tracker.ops.items()}


def tracker_bytes(params, keep):
    seen = set()
    for p in params.values():
        if keep(p) and id(p) not in seen:
            seen.add(id(p))
            yield p.numel() * p.element_size()


def cache_tensors(cache):
    """Every tensor of a generation cache once, whatever its layers keep."""
    seen = set()
    parts = [getattr(cache, k) for k in ("self_attention_cache", "cross_attention_cache") if hasattr(cache, k)] or [cache]
    for layer in [x for part in parts for x in getattr(part, "layers", [])]:
        for v in vars(layer).values():
            for t in (v if isinstance(v, (list, tuple)) else [v]):
                if isinstance(t, torch.Tensor) and id(t) not in seen:
                    seen.add(id(t))
                    yield t


def cache_of(out):
    """The generation cache that a forward returned and the argument that takes it again; Mamba's classes have a name of their own."""
    for name in ("past_key_values", "cache_params"):
        if getattr(out, name, None) is not None:
            return {name: getattr(out, name)}
    return {}


def run_infer(c, cfg, model, forward, inputs, tracker, owner, result):
    inputs = dict(inputs)
    inputs.pop("labels", None)
    inputs.pop("return_loss", None)
    with torch.no_grad():
        cache = {}
        if c["mode"] == "decode":
            pre = dict(inputs, use_cache=True)
            if "attention_mask" in pre:
                pre["attention_mask"] = pre["attention_mask"][:, :inputs["input_ids"].shape[1]]
            if "decoder_input_ids" in inputs:  # their encoders look at the data
                with tracker:
                    tracker.start("warm")
                    out = forward(**pre)
                tracker.flops.clear(), tracker.ops.clear(), tracker.grouped.clear()
            else:
                out = forward(**pre)
            cache = cache_of(out)
            if not cache:
                raise ValueError("the class returns no cache to decode against")
            if "decoder_input_ids" in inputs:  # as generate() does: the encoder ran once, its output is handed on
                encoded = transformers.modeling_outputs.BaseModelOutput(last_hidden_state=out.encoder_last_hidden_state)
                owner.setdefault(tracker.storage_id(encoded.last_hidden_state), "inputs")
                del inputs["input_ids"]
                inputs.update(encoder_outputs=encoded, decoder_input_ids=inputs["decoder_input_ids"][:, :1])
                del encoded
            else:
                inputs["input_ids"] = inputs["input_ids"][:, :1]
            del out
            for t in cache_tensors(next(iter(cache.values()))):
                owner.setdefault(tracker.storage_id(t), "cache")
        with tracker:
            tracker.op += 1  # what died since belongs to no operator of this phase
            begin = tracker.op
            tracker.tracing = tracker.trace is not None
            tracker.start("forward")
            if c["mode"] == "prefill":
                out = forward(**dict(inputs, use_cache=True, logits_to_keep=1))
            elif c["mode"] == "decode":
                out = forward(**dict(inputs, use_cache=True, **cache))
            else:
                out = forward(**inputs)
            end = tracker.op
            tensors = list(cache_tensors(next(iter(cache_of(out).values()), None)))
            if tensors:
                for t in tensors:
                    owner[tracker.storage_id(t)] = "cache"
                result["cache_bytes"] = sum(t.numel() * t.element_size() for t in tensors)
    result["peak"] = {"forward": peak_of(tracker, begin, end, owner)}
    result["peak_bytes"] = result["peak"]["forward"]["bytes"]
    result["flops"] = {ph: dict(v) for ph, v in tracker.flops.items()}
    result["flops_total"] = sum(sum(v.values()) for v in tracker.flops.values())
    result["ops"] = {ph: sum(v.values()) for ph, v in tracker.ops.items()}


# ---------------------------------------------------------------- parameters only

def fold(rows):
    """Fold rows that differ only in one index: model.layers.{0..31}.mlp.gate_proj.weight."""
    groups = collections.OrderedDict()
    for name, shape, dtype in rows:
        pattern = re.sub(r"(?<=\.)\d+(?=\.|$)", "#", name)
        nums = tuple(int(x) for x in re.findall(r"(?<=\.)(\d+)(?=\.|$)", name))
        groups.setdefault((pattern, tuple(shape), dtype), []).append(nums)
    out = []
    for (pattern, shape, dtype), nums in groups.items():
        out.append({"name": pattern, "shape": list(shape), "dtype": dtype, "count": len(nums), "indices": indices(nums)})
    return out


def indices(nums):
    if not nums[0]:
        return None
    if len(nums[0]) == 1:
        xs = [n[0] for n in nums]
        runs, i = [], 0
        while i < len(xs):
            j = i
            while j + 1 < len(xs) and xs[j + 1] == xs[j] + 1:
                j += 1
            runs.append(str(xs[i]) if i == j else f"{xs[i]}-{xs[j]}")
            i = j + 1
        return ",".join(runs)
    cols = list(zip(*nums))
    if len(nums) == math.prod(len(set(col)) for col in cols):
        return " x ".join(indices([(x,) for x in sorted(set(col))]) for col in cols)
    return [list(n) for n in nums]


def params_case(over, edit, wanted):
    """The case as a row states it, without what is default; a plain row states none."""
    given = {k: v for k, v in (("over", over), ("edit", edit), ("class", wanted)) if v not in ("none", "", None)}
    return {"case": {"what": "params", **given}} if given else {}


def params(path, over="none", edit="none", wanted="none"):
    file = pathlib.Path(path)
    raw = json.loads(file.read_text())
    if "_class_name" in raw:
        import diffusers
        cls = getattr(diffusers, raw["_class_name"])
        with torch.device("meta"):
            model = cls.from_config(raw)
    else:
        raw, cfg = load_config(path, over, edit)
        cls = model_class(raw, cfg, wanted)
        with torch.device("meta"):
            model = cls._from_config(cfg)
    rows, seen, ties = [], {}, []
    for n, p in model.named_parameters(remove_duplicate=False):
        if id(p) in seen:
            ties.append([n, seen[id(p)]])
            continue
        seen[id(p)] = n
        rows.append((n, p.shape, "param"))
    bufs = [(n, list(b.shape), SHORT.get(b.dtype, str(b.dtype)), n not in model.state_dict()) for n, b in model.named_buffers()]
    return {"config": label(path), "class": cls.__name__, **params_case(over, edit, wanted),
            "library": "diffusers " + diffusers.__version__ if "_class_name" in raw else "transformers " + transformers.__version__,
            "parameters": unique_numel([p for p in model.parameters()]),
            "buffers": [{"name": a["name"], "shape": a["shape"], "dtype": a["dtype"], "count": a["count"]} for a in fold([(n, tuple(s), d) for n, s, d, _ in bufs])],
            "ties": ties, "tensors": [{k: v for k, v in r.items() if k != "dtype" and v is not None} for r in fold(rows)]}


def said(e, length):
    """What a refused case's error says, without the folder that the configuration was read from."""
    text = re.sub(re.escape(tempfile.gettempdir()) + r"/tmp\w+/", "", f"{type(e).__name__}: {e}")
    return text[:length]


def too_long(*_):
    raise TimeoutError("the case took too long to record")


def main():
    signal.signal(signal.SIGALRM, too_long)
    p = argparse.ArgumentParser()
    p.add_argument("what", choices=["params", "step", "trace", "batch"])
    p.add_argument("config")
    p.add_argument("rest", nargs="*")
    a = p.parse_args()
    if a.what == "params":
        given = dict(x.split("=", 1) for x in a.rest)
        if set(given) - {"over", "edit", "class"}:
            raise SystemExit(f"unknown keys {sorted(set(given) - {'over', 'edit', 'class'})}")
        print(json.dumps(params(a.config, given.get("over", "none"), given.get("edit", "none"), given.get("class", "none"))))
    elif a.what == "step":
        print(json.dumps(run_case(a.config, dict(x.split("=", 1) for x in a.rest))[0], indent=1))
    elif a.what == "trace":
        result, trace = run_case(a.config, dict(x.split("=", 1) for x in a.rest), want_trace=True)
        print(json.dumps({"result": result}))
        for row in trace:
            print(json.dumps(row))
    else:
        out = pathlib.Path(a.rest[0])
        done = set()
        if out.exists():
            done = {json.loads(x)["key"] for x in out.read_text().splitlines()}
        base = pathlib.Path(a.config).parent
        with out.open("a") as f:
            for line in pathlib.Path(a.config).read_text().splitlines():
                case = json.loads(line)
                key = hashlib.sha256(json.dumps({**case, "config": label(case["config"])}, sort_keys=True).encode()).hexdigest()[:12]
                if key in done:
                    continue
                signal.alarm(int(os.environ.get("CASE_SECONDS", "240")))
                try:
                    path = case["config"] if os.path.exists(case["config"]) else base / case["config"]
                    if case.get("what") == "params":
                        r = params(path, case.get("over", "none"), case.get("edit", "none"), case.get("class", "none"))
                    else:
                        r, _ = run_case(path, {k: v for k, v in case.items() if k != "what"})
                    r = {"key": key, **r}
                except Exception as e:  # a case that cannot be recorded is itself a record
                    r = {"key": key, "config": label(case["config"]), "case": {k: v for k, v in case.items() if k != "config"},
                         "error": said(e, 320), "where": traceback.format_exc().strip().splitlines()[-3][:200].split("site-packages")[-1]}
                f.write(json.dumps(r) + "\n")
                f.flush()


if __name__ == "__main__":
    main()
