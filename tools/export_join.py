"""Several networks as methods of one module of TorchScript, whose parameters they share. For export_module.py."""
import torch
from export_followers import CannotExport
from export_graph import compiled, put, tensors_of


def method(i):
    """The method of the network behind `i` others."""
    return f"forward_{i}" if i else "forward"


def joined(plans, candidates):
    """The networks in one module that has the parameters of the whole under their names."""
    root, tensors = torch.nn.Module(), tensors_of(plans[0])
    for name, tensor in tensors.items():
        put(root, name, tensor)
    lines, scope = [], {}
    for i, (plan, candidate) in enumerate(zip(plans, candidates)):
        for suffix in ("", "_train"):
            if not candidate._c._has_method("forward" + suffix):
                continue
            name = method(i) + suffix
            graph, used = lifted(candidate._c, "forward" + suffix, tensors)
            scope["of_" + name] = torch._C._create_function_from_graph("__torch__.of_" + name, graph)
            inputs = [f"x{k}" for k in range(len(plan.in_keys))]
            values = ", ".join([*inputs, *map(member, used)])
            lines += [] if name == "forward" else ["@torch.jit.export"]
            lines += [f"def {name}({', '.join(['self', *inputs])}):", f"    return of_{name}({values})", ""]
    return torch.jit.script(compiled("\n".join(lines), root, scope))


def member(path):
    """The attribute of `self`: names may be numbers."""
    place = "self"
    for name in path:
        place = f'getattr({place}, "{name}")'
    return place


def lifted(module, name, tensors):
    """A method as a graph without `self`, and the paths of the parameters that it takes behind its inputs instead."""
    graph = module._get_method(name).inlined_graph.copy()
    own = next(graph.inputs())
    modules, taken, gone = {own.unique(): (module, ())}, {}, []
    for node in nodes_of(graph):
        if node.kind() == "prim::SetAttr":
            raise CannotExport("a network beside others keeps something in itself")
        if node.kind() != "prim::GetAttr" or node.input().unique() not in modules:
            continue
        holder, path = modules[node.input().unique()]
        path, value = (*path, node.s("name")), holder.getattr(node.s("name"))
        gone.append(node)
        if isinstance(value, torch._C.ScriptModule):
            modules[node.output().unique()] = (value, path)
        elif ".".join(path) in tensors:
            if path not in taken:
                taken[path] = graph.addInput()
                taken[path].setType(node.output().type())
            node.output().replaceAllUsesWith(taken[path])
        else:  # a constant of the code
            with graph.insert_point_guard(node):
                node.output().replaceAllUsesWith(graph.insertConstant(value))
    for node in reversed(gone):
        node.destroy()
    graph.eraseInput(0)
    return graph, list(taken)


def nodes_of(block):
    for node in list(block.nodes()):
        yield node
        for inner in node.blocks():
            yield from nodes_of(inner)
