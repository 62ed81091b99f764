"""Reads a Python package's source as text: names, constants and classes, without running any of it.

A `Package` maps dotted module names to syntax trees. `value` works out what an expression is where it is made of literals,
names, enumerations and the few calls that argument tables use; everything else is `UNKNOWN`.
"""
import ast
import tarfile


class Unknown:
    def __repr__(self):
        return "UNKNOWN"


UNKNOWN = Unknown()


class Package:
    def __init__(self, files):
        """files: {"vllm/config/model.py": text}"""
        self.files = files
        self.trees = {}

    @staticmethod
    def from_archive(path, inside):
        """The .py files under folder `inside` of a source archive whose files lie in one folder."""
        files = {}
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.split("/", 1)[-1]
                if member.isfile() and name.endswith(".py") and name.startswith(inside + "/"):
                    files[name] = archive.extractfile(member).read().decode("utf-8", "replace")
        return Package(files)

    def has(self, module):
        base = module.replace(".", "/")
        return base + ".py" in self.files or base + "/__init__.py" in self.files

    def is_package(self, module):
        return module.replace(".", "/") + "/__init__.py" in self.files

    def tree(self, module):
        if module not in self.trees:
            base = module.replace(".", "/")
            text = self.files.get(base + ".py", self.files.get(base + "/__init__.py"))
            self.trees[module] = Module(self, module, ast.parse(text) if text is not None else ast.parse(""))
        return self.trees[module]


class Module:
    def __init__(self, package, name, tree):
        self.package, self.name = package, name
        self.classes, self.functions, self.constants, self.imports = {}, {}, {}, {}
        self.stars = []
        self.tree = tree
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                self.note_import(node)
        self.note(tree.body)

    def note(self, body):
        for node in body:
            if isinstance(node, ast.ClassDef):
                self.classes.setdefault(node.name, node)
            elif isinstance(node, ast.FunctionDef):
                self.functions[node.name] = node
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.constants[target.id] = node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                self.constants[node.target.id] = node.value
            elif isinstance(node, (ast.If, ast.Try)):
                self.note(node.body)
                self.note(node.orelse)

    def note_import(self, node):
        module = node.module or ""
        if node.level:
            parts = self.name.split(".")
            up = node.level - (1 if self.package.is_package(self.name) else 0)
            parts = parts[: len(parts) - up] if up else parts
            module = ".".join(parts + ([module] if module else []))
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(module)
                continue
            name = alias.asname or alias.name
            # where an import depends on the platform, CUDA's is meant
            if name in self.imports and "nvidia" not in module:
                continue
            self.imports[name] = (module, alias.name)

    def find(self, name, kind, depth=0):
        """(module, node) of a class, function or constant, wherever it is defined."""
        table = getattr(self, kind)
        if name in table:
            return self, table[name]
        if depth > 12:
            return None
        if name in self.imports:
            module, original = self.imports[name]
            if self.package.has(module):
                return self.package.tree(module).find(original, kind, depth + 1)
        for module in self.stars:
            if self.package.has(module):
                found = self.package.tree(module).find(name, kind, depth + 1)
                if found:
                    return found
        return None

    # --- classes -----------------------------------------------------------------------------
    def line_of_descent(self, name, seen=None):
        """[(module, class node)] of a class and what it inherits from, nearest first."""
        seen = set() if seen is None else seen
        found = self.find(name, "classes")
        if not found or (found[0].name, found[1].name) in seen:
            return []
        module, node = found
        seen.add((module.name, node.name))
        out = [found]
        for base in node.bases:
            if isinstance(base, ast.Subscript):
                base = base.value
            if isinstance(base, ast.Name):
                out += module.line_of_descent(base.id, seen)
        return out

    def class_value(self, name, attribute):
        """A class's attribute, decorators that set one included."""
        for module, node in self.line_of_descent(name):
            for decorator in node.decorator_list:
                if isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Name):
                    if decorator.func.id == attribute and decorator.args:
                        return module.value(decorator.args[0])
                    for keyword in decorator.keywords:
                        if attribute == "default_" + str(keyword.arg):
                            return module.value(keyword.value)
                    if decorator.func.id == attribute and decorator.keywords:
                        return module.value(decorator.keywords[0].value)
                    if decorator.func.id == "default_pooling_type" and attribute == "default_pooling_type" and decorator.args:
                        return module.value(decorator.args[0])
            for item in node.body:
                if isinstance(item, ast.Assign) and any(isinstance(t, ast.Name) and t.id == attribute for t in item.targets):
                    return module.value(item.value)
                if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name) and item.target.id == attribute and item.value is not None:
                    return module.value(item.value)
        return None

    def method(self, name, method):
        for module, node in self.line_of_descent(name):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name == method:
                    return module, item
        return None

    def enum_members(self, name):
        found = self.find(name, "classes")
        if not found:
            return None
        module, node = found
        return [(t.id, module.value(i.value)) for i in node.body if isinstance(i, ast.Assign) for t in i.targets if isinstance(t, ast.Name)]

    # --- values ------------------------------------------------------------------------------
    def value(self, node, depth=0):
        if depth > 30 or node is None:
            return UNKNOWN
        method = getattr(self, "value_" + type(node).__name__, None)
        return method(node, depth + 1) if method else UNKNOWN

    def value_Constant(self, node, depth):
        return node.value

    def value_Name(self, node, depth):
        found = self.find(node.id, "constants")
        return found[0].value(found[1], depth) if found else UNKNOWN

    def value_List(self, node, depth):
        out = []
        for item in node.elts:
            if isinstance(item, ast.Starred):
                more = self.value(item.value, depth)
                if more is UNKNOWN:
                    return UNKNOWN
                out += list(more)
                continue
            value = self.value(item, depth)
            if value is UNKNOWN:
                return UNKNOWN
            out.append(value)
        return out

    value_Tuple = value_Set = value_List

    def value_Dict(self, node, depth):
        out = {}
        for key, item in zip(node.keys, node.values):
            value = self.value(item, depth)
            if key is None:
                if isinstance(value, dict):
                    out.update(value)
                continue
            key = self.value(key, depth)
            if not isinstance(key, (str, int, float, bool, type(None))):
                continue
            out[key] = value
        return out

    def value_DictComp(self, node, depth):
        # {k: (mod, arch) for k, (mod, arch) in TABLE.items() if arch == "…"}: the one form that registries use
        loop = node.generators[0]
        if not (isinstance(loop.iter, ast.Call) and isinstance(loop.iter.func, ast.Attribute) and loop.iter.func.attr == "items"):
            return {}
        table = self.value(loop.iter.func.value, depth)
        wanted = [c.comparators[0].value for c in loop.ifs if isinstance(c, ast.Compare) and isinstance(c.comparators[0], ast.Constant)]
        return {k: v for k, v in table.items() if not wanted or v[1] == wanted[0]} if isinstance(table, dict) else {}

    def value_UnaryOp(self, node, depth):
        value = self.value(node.operand, depth)
        if isinstance(node.op, ast.USub) and isinstance(value, (int, float)):
            return -value
        return UNKNOWN

    def value_BinOp(self, node, depth):
        left, right = self.value(node.left, depth), self.value(node.right, depth)
        try:
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Mult):
                return left * right
            if isinstance(node.op, ast.Pow) and abs(right) < 64:
                return left**right
            if isinstance(node.op, ast.FloorDiv):
                return left // right
        except TypeError:
            pass
        return UNKNOWN

    def value_Attribute(self, node, depth):
        if isinstance(node.value, ast.Name):
            if node.value.id == "torch":
                return "torch." + node.attr
            members = self.enum_members(node.value.id) if self.find(node.value.id, "classes") else None
            if members and node.attr in dict(members) and self.is_enum(node.value.id):
                return node.attr
            value = self.class_value(node.value.id, node.attr)
            return UNKNOWN if value is None else value
        return UNKNOWN

    def is_enum(self, name):
        found = self.find(name, "classes")
        return bool(found) and any("Enum" in ast.unparse(b) for b in found[1].bases)

    def value_Subscript(self, node, depth):
        if isinstance(node.value, ast.Name) and node.value.id == "Literal":
            return self.literal(node.slice, depth)
        return UNKNOWN

    def literal(self, node, depth=0):
        """The members of Literal[…], nested aliases opened."""
        out = []
        for item in node.elts if isinstance(node, ast.Tuple) else [node]:
            if isinstance(item, ast.Name):
                found = self.find(item.id, "constants")
                more = found[0].value(found[1], depth + 1) if found else UNKNOWN
                out += more if isinstance(more, list) else []
            else:
                value = self.value(item, depth)
                if isinstance(value, list):
                    out += value
                elif value is not UNKNOWN:
                    out.append(value)
        return out

    def value_Call(self, node, depth):
        name = ast.unparse(node.func)
        keywords = {k.arg: k.value for k in node.keywords}
        if name in ("list", "sorted", "tuple", "set", "frozenset", "dict") and node.args:
            inner = node.args[0]
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute) and inner.func.attr in ("keys", "values"):
                table = self.value(inner.func.value, depth)
                return list(getattr(table, inner.func.attr)()) if isinstance(table, dict) else UNKNOWN
            value = self.value(inner, depth)
            return value if value is UNKNOWN or not isinstance(value, (list, dict)) else (sorted(value) if name == "sorted" else value)
        if name == "LazyConfigDict":
            return {k.arg: self.value(k.value, depth) for k in node.keywords if k.arg} | {
                key: v for k in node.keywords if k.arg is None for key, v in (self.value(k.value, depth) or {}).items()}
        if name in ("list", "set", "dict", "tuple"):
            return {} if name == "dict" else []
        if name == "get_args" and node.args:
            return self.value(node.args[0], depth)
        if name in ("field", "Field", "dataclasses.field", "strict_dataclass_field"):
            if "default" in keywords:
                return self.value(keywords["default"], depth)
            if node.args:
                return self.value(node.args[0], depth)
            factory = keywords.get("default_factory")
            if isinstance(factory, ast.Name) and factory.id in ("list", "dict", "set"):
                return {} if factory.id == "dict" else []
            if isinstance(factory, ast.Lambda):
                return self.value(factory.body, depth)
        return UNKNOWN

    def value_ListComp(self, node, depth):
        loop = node.generators[0]
        if isinstance(loop.iter, ast.Name) and self.is_enum(loop.iter.id) and isinstance(node.elt, ast.Attribute):
            members = self.enum_members(loop.iter.id)
            return [m[0] if node.elt.attr == "name" else m[1] for m in members]
        return UNKNOWN
