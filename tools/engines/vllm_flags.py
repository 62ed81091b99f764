"""The command line of one vLLM version, from its source: a row per flag.

Versions up to 0.8 write `add_argument` calls with their types; later ones make them from the fields of configuration classes
(`get_kwargs`). Both are followed here. A row: {"flag", "also" (other spellings), "dest", "type", "default", "choices", "many"}.
Types: int, float, str, json, bool (--x and --no-x), true, false (a switch), size (1k, 2M), size_or_auto, json_or_str, pairs
(a=1,b=2), config:NAME (JSON of a configuration class), append.
"""
import ast

from python_source import UNKNOWN

SIZES = {"max_num_batched_tokens", "max_num_scheduled_tokens", "kv_cache_memory_bytes", "safetensors_prefetch_block_size", "max_num_queued_tokens"}
BUILTIN = {"int", "float", "str", "bool", "dict", "list", "tuple", "set", "None", "Any", "Literal"}


def hints(module, node):
    """The flat list of a type annotation's parts: ["int", "None"], or ("Literal", [...]), ("config", name), ("list", elem)."""
    if node is None:
        return []
    if isinstance(node, ast.Constant):
        if node.value is None:
            return ["None"]
        if isinstance(node.value, str):
            return hints(module, ast.parse(node.value, mode="eval").body)
        return []
    if isinstance(node, ast.BinOp):
        return hints(module, node.left) + hints(module, node.right)
    if isinstance(node, ast.Subscript):
        name = ast.unparse(node.value).split(".")[-1]
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Optional":
            return hints(module, node.slice) + ["None"]
        if name in ("Union", "ClassVar", "InitVar", "SkipValidation"):
            return [h for part in inner for h in hints(module, part)]
        if name == "Annotated":
            return hints(module, inner[0])
        if name == "Literal":
            return [("Literal", module.literal(node.slice))]
        if name.lower() in ("list", "tuple", "set", "sequence"):
            element = hints(module, inner[0])
            fixed = len(inner) if name.lower() == "tuple" and not (isinstance(inner[-1], ast.Constant) and inner[-1].value is Ellipsis) else None
            return [("many", element, fixed)]
        if name.lower() in ("dict", "mapping"):
            return ["dict"]
        return ["other"]
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = node.id if isinstance(node, ast.Name) else ast.unparse(node)
        if name in BUILTIN:
            return [name]
        name = name.split(".")[-1]
        found = module.find(name, "constants")
        if found and isinstance(found[1], (ast.Subscript, ast.BinOp)):
            return hints(*found)
        if module.find(name, "classes"):
            where, cls = module.find(name, "classes")
            bases = [ast.unparse(b) for b in cls.bases]
            if any("Enum" in b for b in bases):
                return ["other"]
            if any("Protocol" in b for b in bases):
                return ["other"]
            if any(b.startswith("dict") or b.startswith("UserDict") for b in bases):
                return ["dict"]
            if cls.decorator_list or any("BaseModel" in b for b in bases):
                return [("config", name)]
        return ["other"]
    return []


def fields(module, name):
    """{field: (module, annotation, default)} of a dataclass, inherited ones first."""
    out = {}
    for where, node in reversed(module.line_of_descent(name)):
        for item in node.body:
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and "ClassVar" not in ast.unparse(item.annotation):
                out[item.target.id] = (where, item.annotation, item.value)
    return out


def plain(value):
    return value if value is None or isinstance(value, (bool, int, float, str, list, dict)) else None


def typed(name, parts):
    """What argparse gets for a field of these types: {"type", "choices"?, "many"?}."""
    out = {}
    literal = next((p for p in parts if isinstance(p, tuple) and p[0] == "Literal"), None)
    config = next((p for p in parts if isinstance(p, tuple) and p[0] == "config"), None)
    many = next((p for p in parts if isinstance(p, tuple) and p[0] == "many"), None)
    if config:
        out["type"] = "config:" + config[1]
    elif "bool" in parts and "str" in parts:
        out.update(type="str", many="?")
    elif "bool" in parts:
        out["type"] = "bool"
    elif literal:
        out["type"] = "int" if literal[1] and isinstance(literal[1][0], int) else "str"
        if "str" not in parts:
            out["choices"] = sorted(literal[1], key=str)
    elif many:
        element = [p for p in many[1] if p != "None"]
        kind = element[0] if element and element[0] in ("int", "float", "str") and "str" not in element else "str"
        if element and isinstance(element[0], tuple) and element[0][0] == "Literal":
            kind, out["choices"] = "str", sorted(element[0][1], key=str)
        out.update(type=kind, many=many[2] or "+")
    elif "int" in parts:
        out["type"] = "size_or_auto" if name == "max_model_len" else "size" if name in SIZES else "int"
    elif "float" in parts:
        out["type"] = "float"
    elif "dict" in parts and ("str" in parts or "other" in parts):
        out["type"] = "json_or_str"
    elif "dict" in parts:
        out["type"] = "json"
    else:
        out["type"] = "str"
    if "None" in parts and out["type"] != "bool":
        out["optional"] = True
    return out


class Command:
    def __init__(self, package):
        self.package = package
        self.rows = {}
        self.engine = package.tree("vllm.engine.arg_utils")
        source = package.files.get("vllm/engine/arg_utils.py", "")
        self.size_names = "human_readable_int" in source
        self.auto_length = "human_readable_int_or_auto" in source
        self.literal_pairs = "nullable_kvs" in source
        self.read()

    def field(self, module, cls, name):
        found = fields(module, cls).get(name)
        if not found:
            return {"type": "str"}
        where, annotation, default = found
        out = typed(name, hints(where, annotation))
        if out["type"] == "size_or_auto" and not self.auto_length:
            out["type"] = "size" if self.size_names else "int"
        elif out["type"] == "size" and not (self.size_names and (name == "max_num_batched_tokens" or self.auto_length)):
            out["type"] = "int"
        out["default"] = plain(where.value(default))
        return out

    def read(self):
        for cls in ("EngineArgs", "AsyncEngineArgs"):
            found = self.engine.method(cls, "add_cli_args")
            if found:
                self.function(found[0], found[1], cls)
        for path in ("vllm.entrypoints.common.cli_args", "vllm.entrypoints.openai.cli_args"):
            if self.package.has(path):
                self.front(self.package.tree(path))
                break
        for path in ("vllm.entrypoints.cli.serve", "vllm.scripts", "vllm.entrypoints.cli.main"):
            if self.package.has(path):
                module = self.package.tree(path)
                for name in ("subparser_init", "main"):
                    found = module.method("ServeSubcommand", name) or ((module, module.functions[name]) if name in module.functions else None)
                    if found:
                        self.calls(found[0], found[1], {}, only="serve")
                if any(r["flag"] == "--headless" for r in self.rows.values()) or path != "vllm.entrypoints.cli.serve":
                    break

    def front(self, module):
        self.function(module, module.functions.get("make_arg_parser"), None)
        for cls in ("BaseFrontendArgs", "FrontendArgs"):
            if not module.find(cls, "classes"):
                continue
            custom = module.method(cls, "_customize_cli_kwargs") or module.method(cls, "add_cli_args")
            for name in fields(module, cls):
                row = self.field(module, cls, name)
                row["flag"] = "--" + name.replace("_", "-")
                row["dest"] = name
                text = "".join(ast.unparse(f) for f in [m[1] for m in (module.method(c, "_customize_cli_kwargs") or module.method(c, "add_cli_args")
                                                                       for c in ("BaseFrontendArgs", "FrontendArgs") if module.find(c, "classes")) if m])
                if f"['{name}']['type'] = json.loads" in text:
                    row["type"] = "json"
                if f"del frontend_kwargs['{name}']['nargs']" in text:
                    row.pop("many", None)
                if f"['{name}']['action'] = 'append'" in text:
                    row["type"] = "append"
                    row.pop("many", None)
                if name == "lora_modules":
                    row.update(type="str", many="+")
                    row["special"] = "lora_modules"
                self.rows.setdefault(row["flag"], row)
            del custom

    def function(self, module, node, cls):
        if node is None:
            return
        env = {}
        for item in ast.walk(node):
            if isinstance(item, ast.Assign) and len(item.targets) == 1:
                target, value = item.targets[0], item.value
                if isinstance(target, ast.Name) and isinstance(value, ast.Call) and ast.unparse(value.func) == "get_kwargs" and value.args:
                    env[target.id] = ("kwargs", ast.unparse(value.args[0]), {})
                elif isinstance(target, ast.Name) and isinstance(value, ast.Subscript) and isinstance(value.value, ast.Call) and ast.unparse(value.value.func) == "get_kwargs":
                    env[target.id] = ("one", ast.unparse(value.value.args[0]), value.slice.value, {})
                elif isinstance(target, ast.Name) and isinstance(value, ast.Subscript) and isinstance(value.value, ast.Name) and env.get(value.value.id, ("",))[0] == "kwargs":
                    env[target.id] = ("one", env[value.value.id][1], value.slice.value, {})
                elif isinstance(target, ast.Subscript):
                    self.changed(env, target, value)
        self.calls(module, node, env)

    @staticmethod
    def changed(env, target, value):
        """kwargs["name"]["type"] = …: noted for the field."""
        if not isinstance(target.slice, ast.Constant):
            return
        inner = target.value
        if isinstance(inner, ast.Subscript) and isinstance(inner.value, ast.Name) and env.get(inner.value.id, ("",))[0] == "kwargs" and isinstance(inner.slice, ast.Constant):
            env[inner.value.id][2].setdefault(inner.slice.value, {})[target.slice.value] = value
        elif isinstance(inner, ast.Name) and env.get(inner.id, ("",))[0] == "one":
            env[inner.id][3][target.slice.value] = value

    def calls(self, module, node, env, only=None):
        for call in ast.walk(node):
            if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"):
                continue
            owner = ast.unparse(call.func.value)
            if only and "parser" in owner and only not in owner and owner != "parser" and "group" not in owner:
                continue
            names = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            if not names or not any(n.startswith("-") for n in names):
                continue
            long = [n for n in names if n.startswith("--")]
            row = {"flag": (long or names)[0]}
            if len(names) > 1:
                row["also"] = [n for n in names if n != row["flag"]]
            row["dest"] = row["flag"].lstrip("-").replace("-", "_")
            for keyword in call.keywords:
                if keyword.arg is None:
                    self.splat(module, keyword.value, env, row)
                else:
                    self.keyword(module, keyword.arg, keyword.value, row)
            row.setdefault("type", "str")
            if row.get("choices") is not None and any(c is UNKNOWN for c in row["choices"]):
                row.pop("choices")
            self.rows.setdefault(row["flag"], row)

    def splat(self, module, node, env, row):
        if isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values):
                if key is None:
                    self.splat(module, value, env, row)
                elif isinstance(key, ast.Constant):
                    self.keyword(module, key.value, value, row)
            return
        changes = {}
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and isinstance(node.slice, ast.Constant):
            kind = env.get(node.value.id)
            if not kind or kind[0] != "kwargs":
                return
            cls, name, changes = kind[1], node.slice.value, kind[2].get(node.slice.value, {})
        elif isinstance(node, ast.Name) and env.get(node.id, ("",))[0] == "one":
            _, cls, name, changes = env[node.id]
        else:
            return
        row.update(self.field(module, cls, name))
        row["field"] = cls + "." + name
        for key, value in changes.items():
            self.keyword(module, key, value, row)

    def keyword(self, module, name, node, row):
        if name == "type":
            text = ast.unparse(node)
            row["type"] = ("size_or_auto" if "human_readable_int_or_auto" in text else "size" if "human_readable_int" in text else "json_or_str" if "union_dict_and_str" in text
                           else "json" if "json.loads" in text else "pairs" if "nullable_kvs" in text else "int" if text in ("int", "optional_type(int)") or text.endswith("check_port")
                           else "float" if text in ("float", "optional_type(float)") else "config:" + text.split(".")[0] if text.endswith(".from_cli") else "str")
            if "optional" in text or "nullable" in text:
                row["optional"] = True
            if ".lower()" in text:
                row["special"] = "lower_underscore"
        elif name == "action":
            text = ast.unparse(node)
            known = {"'store_true'": "true", "'store_false'": "false", "'append'": "append"}
            row["type"] = known.get(text, "bool" if "BooleanOptionalAction" in text else "true" if "StoreBoolean" in text else row.get("type", "str"))
            if "StoreBoolean" in text:
                row["many"] = "?"
        elif name == "choices":
            value = module.value(node)
            if isinstance(value, list):
                row["choices"] = value
        elif name == "default":
            row["default"] = plain(module.value(node))
        elif name == "nargs":
            row["many"] = plain(module.value(node))
        elif name == "const":
            row["const"] = plain(module.value(node))
        elif name == "dest":
            row["dest"] = node.value
        elif name == "deprecated":
            row["deprecated"] = True
        elif name == "required":
            row["required"] = True


def flags(package):
    return list(Command(package).rows.values())
