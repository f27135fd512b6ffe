"""The parity table finds what is not there."""
import importlib.machinery
import importlib.util
import sys
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[1] / "parity-table"
loader = importlib.machinery.SourceFileLoader("parity_table", str(TOOL))
spec = importlib.util.spec_from_loader("parity_table", loader)
parity = importlib.util.module_from_spec(spec)
sys.modules[parity.__name__] = parity
loader.exec_module(parity)

GOOD = {
    "method": "stack", "priority": "core", "c": "td_stack", "c_test": "test_join.c", "rust": "TensorDict::stack",
    "rust_test": "parts_are_taken_and_joined", "julia": "stack", "julia_test": "shape.jl", "csharp": "Stack",
    "csharp_test": "StackAndUnbindUndoEachOther", "note": "",
}  # fmt: skip


class Parity(unittest.TestCase):
    def complaints(self, **changed):
        rows = {"Part": [parity.Row("row", {**GOOD, **changed})]}
        return parity.check(rows, {"stack": ("core", "stack and cat")})

    def test_what_exists_is_good(self):
        self.assertEqual(self.complaints(), [])

    def test_each_name_is_looked_up(self):
        for cell, value, complaint in (
            ("c", "td_stuck", "no public header declares"),
            ("c", "td_to_dtype(TD_DTYPE_FLOAT31)", "not in the public headers"),
            ("c_test", "test_joint.c", "no C test file"),
            ("c_test", "test_print.c", "uses none of td_stack"),
            ("rust", "TensorDict::stuck", "sources of Rust"),
            ("rust_test", "parts_are_lost", "no rust test"),
            ("julia", "stuck!", "sources of Julia"),
            ("julia_test", "shapes.jl", "no julia test"),
            ("csharp", "Stuck", "sources of C#"),
            ("csharp_test", "StackAndUnbindAreLost", "no csharp test"),
            ("rust_test", "-", "rust_test is '-'"),
            ("priority", "extended", "is core, not extended"),
        ):
            with self.subTest(cell=cell, value=value):
                self.assertIn(complaint, "\n".join(self.complaints(**{cell: value})))

    def test_what_is_not_there_needs_a_reason(self):
        none = {cell: "-" for cell in GOOD if cell not in ("method", "priority", "note")}
        self.assertIn("no note says why", "\n".join(self.complaints(**none)))
        self.assertEqual(self.complaints(**none, note="use td_cat()"), [])

    def test_every_method_stands_once(self):
        self.assertIn("'stack' (stack and cat) has no row", "\n".join(self.complaints(method="stork")))
        row = parity.Row("row", GOOD)
        twice = parity.check({"Part": [row, row]}, {"stack": ("core", "")})
        self.assertIn("stands in row too", "\n".join(twice))


if __name__ == "__main__":
    unittest.main()
