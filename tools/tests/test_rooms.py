"""tools/check_layers finds functions that stand in another room than their declaration."""
import importlib.machinery
import importlib.util
import sys
import tempfile
import unittest
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOOLS))

import cpp_functions  # noqa: E402

loader = importlib.machinery.SourceFileLoader("check_layers", str(TOOLS / "check_layers"))
check_layers = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_layers", loader))
sys.dont_write_bytecode, write_bytecode = True, sys.dont_write_bytecode
loader.exec_module(check_layers)
sys.dont_write_bytecode = write_bytecode

NODE_H = """
namespace td {
class Node {
 public:
  Node();
  NodePtr clone(bool recurse = true) const;
};
// Finds {an entry}.
const Value* find(const NodePtr& node, std::string_view name = "{");
template <class F>
void visit(F&& f) {
  f();
}
}  // namespace td
"""
NODE_CPP = """
#include "core/tree/node.h"
namespace td {
namespace {
int helper(int) { return '{'; }
}  // namespace
static void local() {}
Node::Node() = default;
const Value* find(const NodePtr& node, std::string_view name) { return nullptr; }
}  // namespace td
"""
CLONE = "NodePtr Node::clone(bool recurse) const { return {}; }\n"


def in_td(text):
    return f"namespace td {{\n{text}}}  // namespace td\n"


class Misplaced(unittest.TestCase):
    def complaints(self, **more):
        sources = {"tree/node.h": NODE_H, "tree/node.cpp": NODE_CPP}
        sources.update({name.replace("__", "/").replace("_", "."): text for name, text in more.items()})
        with tempfile.TemporaryDirectory() as folder:
            for name, text in sources.items():
                path = Path(folder) / name
                path.parent.mkdir(exist_ok=True)
                path.write_text(text)
            return list(check_layers.misplaced(Path(folder)))

    def test_where_it_is_declared(self):
        self.assertEqual(self.complaints(tree__clone_cpp=in_td(CLONE)), [])

    def test_a_member_in_a_later_room(self):
        self.assertEqual(
            self.complaints(shape__clone_cpp=in_td(CLONE)),
            ["core/shape/clone.cpp defines td::Node::clone(bool), which is declared in tree"],
        )

    def test_a_function_in_a_later_room(self):
        find = "const Value *find(const NodePtr &, std::string_view) { return {}; }\n"
        self.assertEqual(
            self.complaints(shape__find_cpp=in_td(find)),
            ["core/shape/find.cpp defines td::find(const NodePtr&, string_view), which is declared in tree"],
        )

    def test_another_overload_is_another_function(self):
        find = "const Value* find(const Node& node) { return {}; }\n"
        self.assertEqual(
            self.complaints(tree__find_cpp=in_td(find)),
            ["core/tree/find.cpp defines td::find(const Node&), which is declared in no header"],
        )

    def test_a_declaration_instead_of_an_include(self):
        self.assertEqual(
            self.complaints(tree__up_cpp=in_td("TensorDict stack(std::vector<NodePtr> nodes);\n")),
            ["core/tree/up.cpp declares td::stack(vector) by itself; its room has a header for that"],
        )

    def test_listed_members(self):
        header = in_td("class TensorDict {\n  TensorDict to(c10::Device device, bool wait) const;\n};\n")
        source = in_td("TensorDict TensorDict::to(c10::Device device, bool wait) const { return {}; }\n")
        self.assertEqual(
            self.complaints(tree__tensordict_h=header, consolidated__move_cpp=source), []
        )
        self.assertEqual(
            self.complaints(tree__tensordict_h=header, shape__move_cpp=source),
            ["core/shape/move.cpp defines td::TensorDict::to(Device, bool), which is declared in tree"],
        )


class Functions(unittest.TestCase):
    def read(self, text):
        return list(cpp_functions.functions(text))

    def test_lists(self):
        self.assertEqual(
            self.read("std::function<int(A, B)> make(const char* name, std::map<A, B>&& of = {}, int n[3] = 0);"),
            [("make", "const char*, map&&, int", False)],
        )

    def test_initialisers_are_no_functions(self):
        self.assertEqual(self.read("const Row rows[] = {{f(1)}, {g(2)}};\nconst int n = count(rows);\n"), [])

    def test_constructors(self):
        self.assertEqual(
            self.read("A::A(int n) : n_(n), list_{n} {\n  go();\n}\nvoid next() {}\n"),
            [("A::A", "int", True), ("next", "", True)],
        )

    def test_branches(self):
        self.assertEqual(
            self.read("#if NEW\nvoid f(int) {\n#else\nvoid f(long) {\n#endif\n}\n"), [("f", "int", True)]
        )

    def test_operators(self):
        self.assertEqual(
            self.read("bool operator<(const A& a, const A& b) { return a.n < b.n; }\nvoid A::operator()(int) {}\n"),
            [("operator<", "const A&, const A&", True), ("A::operator()", "int", True)],
        )

    def test_classes(self):
        text = "namespace td {\nnamespace {\nclass A {};\n}\nstruct B final : C<D> {\n  int n;\n};\nenum class E { f };\n}\n"
        self.assertEqual(list(cpp_functions.classes(text)), ["td::::A", "td::B"])


if __name__ == "__main__":
    unittest.main()
