"""Ways from a network in Python to one that runs without it, for export_module.py."""
import json
import linecache
import os
import warnings

import torch
from export_followers import CannotExport
from export_older import older
from export_probe import RECURRENT, Batches, difference
from tensordict.nn import TensorDictModule


class Network(torch.nn.Module):
    """The network as a function of tensors. It has the parameters of the module itself under their names. It does not
    have the module, or names would get a prefix: it shares its sub-modules, or has empty ones in their place, since
    TorchScript trips over what else a TensorDictModule holds."""

    def __init__(self, plan, empty=False):
        super().__init__()
        if empty:
            for name, tensor in tensors_of(plan).items():
                put(self, name, tensor)
        else:
            for name in ("_modules", "_parameters", "_buffers"):
                self.__dict__[name] = plan.module.__dict__[name]
        self.__dict__["plan"] = plan
        self.training = False

    def forward(self, *tensors):
        with older():
            return self.plan.outputs(*tensors)


def dynamic_shapes(inputs, batch_dims):
    """The batch dimensions take any size, each the same in all inputs."""
    dims = [torch.export.Dim(f"batch{i}") for i in range(batch_dims)]
    return (tuple({i: dim for i, dim in enumerate(dims)} for _ in inputs),) if dims else None


def two_rows(inputs, batch_dims):
    """Sizes 0 and 1 would be taken for constants."""
    for i in range(batch_dims):
        if inputs[0].shape[i] < 2:
            inputs = tuple(torch.cat([one.narrow(i, 0, 1)] * 2, i) for one in inputs)
    return inputs


def program(plan, inputs, batch_dims, network=None):
    if not hasattr(torch, "export"):
        raise CannotExport("torch.export needs torch 2.1 or newer")
    inputs = tuple(one.clone(memory_format=torch.contiguous_format) for one in two_rows(inputs, batch_dims))
    shapes = dynamic_shapes(inputs, batch_dims)
    if network is None:
        network = Network(plan)
    elif shapes:  # a graph, which has a name for each input
        shapes = shapes[0]
    return torch.export.export(network, inputs, dynamic_shapes=shapes, strict=False), inputs


def plain_module(plan, exported_program):
    """The exported graph as a module whose parameters are those of the original."""
    module = module_of(exported_program)
    for node in list(module.graph.nodes):
        if node.op == "call_module" and node.target == "_guards_fn":
            module.graph.erase_node(node)
    # It checks inputs against the example's form in Python, which no archive holds.
    module._forward_hooks.clear()
    module._forward_pre_hooks.clear()
    wanted = tensors_of(plan)
    # Constants of the code are no buffers, which others could push.
    for name, tensor in list(module.named_buffers(remove_duplicate=False)):
        if name not in wanted:
            where, _, last = name.rpartition(".")
            holder = module.get_submodule(where)
            delattr(holder, last)
            holder.__dict__[last] = tensor
    put_tensors(plan, module)
    return module


def module_of(exported_program):
    try:
        return exported_program.module(check_guards=False)
    except TypeError:  # older
        return exported_program.module()


def put_tensors(plan, module):
    """The graph's module gets all tensors: those that the network does not use are pushed all the same."""
    for name, tensor in tensors_of(plan).items():
        put(module, name, tensor)
    module.graph.lint()
    module.recompile()


def tensors_of(plan):
    """All parameters and buffers by name; those that are tied under each of their names."""
    own = plan.module
    return {**dict(own.named_parameters(remove_duplicate=False)), **dict(own.named_buffers(remove_duplicate=False))}


def holder(module, path):
    """The place of this name in a tree of modules, which grows by empty ones."""
    for part in path:
        if part not in module._modules:
            module.add_module(part, torch.nn.Module())
        module = module._modules[part]
    return module


def put(module, name, tensor):
    *path, last = name.split(".")
    module = holder(module, path)
    if last in module._parameters or last in module._buffers:
        return
    if isinstance(tensor, torch.nn.Parameter):
        module.register_parameter(last, tensor)
    else:
        module.register_buffer(last, tensor)


def operators(made):
    return {str(getattr(node.target, "overloadpacket", node.target)) for node in made.graph.nodes}


def is_recurrent(made):
    return not operators(made).isdisjoint(f"aten.{kind}" for kind in RECURRENT)


def exported(plan, inputs, batch_dims):
    """A trace of the graph that torch.export has found, in which nothing depends on the example."""
    made, inputs = program(plan, inputs, batch_dims)
    if is_recurrent(made) and "aten.sym_size" in operators(made):
        # A trace writes down the example's sizes: the state of a layer would have its rows, and at::lstm reads beyond it.
        raise CannotExport("the state of a recurrent layer has a size that is computed")
    return torch.jit.trace(plain_module(plan, made), inputs, check_trace=False)


def scripted_graph(plan, inputs, batch_dims):
    """The same graph as code, in which sizes that are computed stay so."""
    made, inputs = program(plan, inputs, batch_dims)
    return code_of(plain_module(plan, made))


def code_of(module):
    for node in module.graph.nodes:
        if node.op != "call_function":
            continue
        if node.target is torch.ops.aten.sym_size.int:
            node.op, node.target = "call_method", "size"
        elif isinstance(node.target, torch._ops.OpOverload):
            if str(node.target) in ("aten.squeeze.dims", "aten.squeeze_.dims") and len(node.args[1]) == 1:
                node.args = (node.args[0], node.args[1][0])  # an old libtorch has no list here
            node.target = node.target.overloadpacket
    module.graph.set_codegen(torch.fx.graph.CodeGen())
    module.recompile()
    return torch.jit.script(module)


def traced(plan, inputs, strict):
    """What runs on the example. A branch that it takes is taken for ever; `strict` refuses that."""
    with warnings.catch_warnings():
        warnings.simplefilter("error" if strict else "ignore", torch.jit.TracerWarning)
        return torch.jit.trace(Network(plan, empty=True), inputs, check_trace=False)


def scripted(plan, inputs):
    """The Python code, compiled: the networks themselves, and lines that pass tensors from one to the next."""
    names = {id(one): name for name, one in plan.module.named_modules()}
    values = {one: f"x{i}" for i, one in enumerate(plan.in_keys)}
    lines, root = [], torch.nn.Module()
    for name, tensor in tensors_of(plan).items():  # also those that the network does not use
        put(root, name, tensor)
    for module in plan.network:
        if type(module) is not TensorDictModule or not isinstance(module.module, torch.nn.Module):
            inside = f" of a {type(module.module).__name__}" if type(module) is TensorDictModule else ""
            raise CannotExport(f"only a TensorDictModule of a torch.nn.Module can be scripted, not a {type(module).__name__}{inside}")
        if getattr(module, "_kwargs", None):
            raise CannotExport("in_keys with the names of arguments cannot be scripted")
        path = names[id(module.module)].split(".")
        holder(root, path[:-1]).add_module(path[-1], module.module)
        place = "self"
        for part in path:
            place = f'getattr({place}, "{part}")'
        arguments = [values[tuple([k] if isinstance(k, str) else k)] for k in module.in_keys]
        results = [f"y{len(lines)}_{i}" for i in range(len(module.out_keys))]
        lines.append(f"{', '.join(results)} = {place}({', '.join(arguments)})")
        values.update({tuple([k] if isinstance(k, str) else k): name for k, name in zip(module.out_keys, results)})
    results = ", ".join(values[one] for one in plan.out_keys)
    parameters = "".join(f", {values[one]}" for one in plan.in_keys)
    code = f"def forward(self{', ' if parameters else ''}" + ", ".join(f"x{i}" for i in range(len(plan.in_keys))) + "):\n"
    code += "".join(f"    {line}\n" for line in lines) + f"    return ({results},)\n"
    return torch.jit.script(compiled(code, root))


def compiled(code, root, values=None):
    """A module with the methods of this code, whose source torch.jit.script finds."""
    file, scope = f"<network {id(root)}>", {"__name__": __name__, "torch": torch, **(values or {})}
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)
    exec(compile(code, file, "exec"), scope)  # noqa: S102: lines of the callers
    methods = {name: one for name, one in scope.items() if getattr(one, "__code__", None) and one.__code__.co_filename == file}
    made = type("Scripted", (torch.nn.Module,), methods)()
    for name in ("_modules", "_parameters", "_buffers"):
        made.__dict__[name] = root.__dict__[name]
    made.training = False
    return made


def leave_vmap():
    """A way that failed inside vmap may have left torch there."""
    if hasattr(torch._C._functorch, "pop_dynamic_layer_stack_and_undo_to_depth"):
        torch._C._functorch.pop_dynamic_layer_stack_and_undo_to_depth(0)


def program_of_any(plan, given, graph_below_vmap):
    """What torch.export makes of the code, or, where it trips over vmap, of the operators below it."""
    problem = None
    for unrolled in (None, False, True):
        try:
            network = None if unrolled is None else graph_below_vmap(plan, given, unrolled)
            return program(plan, tuple(given), given.batch_dims, network)[0]
        except Exception as error:  # noqa: BLE001: whatever torch raises for what it cannot follow
            leave_vmap()
            problem = problem or error
    raise problem


def package(plans, meta, given, graph_below_vmap, path, write, tolerance):
    """A package of AOTInductor: a model for each network, and in the first the text about all, with the shapes that each
    was compiled for. What holds of the archive holds of the same graphs in a package, but these take no other sizes."""
    if not hasattr(torch._inductor, "aoti_compile_and_package"):
        raise CannotExport(f"packages of AOTInductor need torch 2.6 or newer; this is {torch.__version__}")
    from torch._inductor.package import load_package, package_aoti

    made = [program_of_any(plan, one, graph_below_vmap) for plan, one in zip(plans, given)]
    meta = {**meta, "version": 3}
    texts = [meta, *(one for one in meta.get("then", []) if one["kind"] == "network")]
    for text, program, one in zip(texts, made, given):
        text["batch"] = dict(text.get("batch", {}), direct=[one.batch_dims])
        if is_recurrent(program):  # compiled for oneDNN, which divides by the number of rows
            text["batch"]["empty"] = False
        text["inputs"] = [{"dtype": str(x.dtype), "shape": [-1] * one.batch_dims + list(event)} for x, event in zip(one, one.events)]
    names, models = ["model", *(text["method"] for text in texts[1:])], {}
    for name, program in zip(names, made):
        options = {"aot_inductor.package": True}
        if not models:
            options["aot_inductor.metadata"] = {"tensordict": json.dumps(meta)}
        models[name] = torch._inductor.aot_compile(module_of(program), *program.example_inputs, options=options)
    write(path, lambda scratch: package_aoti(scratch, models))
    worst = 0.0
    for name, plan, one, text in zip(names, plans, given, texts):
        loaded = load_package(path, name)
        off, other = difference(plan, loaded, one)
        if other is not None or off > tolerance:
            os.remove(path)
            raise CannotExport(f"{path}: {other or f'the results differ by {off:.3g}'}")
        empty = text["batch"].get("empty", True)
        held = Batches(plan, loaded, one, tolerance, fixed=True, empty=empty)
        if not set(text["batch"]["flat"]) <= set(held.flat) or (empty and not held.empty):
            os.remove(path)
            raise CannotExport(f"{path}: other numbers of batch dimensions hold than in the archive")
        worst = max(worst, off)
    return worst
