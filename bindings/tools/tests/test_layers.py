"""Names of the C interface where they do not belong."""
import tempfile
import unittest
from pathlib import Path

import context

import check_layers


class Layers(unittest.TestCase):
    def found(self, path, text):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, path)
            file.parent.mkdir(parents=True)
            file.write_text(text, encoding="utf-8")
            return check_layers.offences(Path(folder))

    def test_the_raw_layer_stays_inside(self):
        for path, line in (
            ("examples/rust/src/main.rs", "unsafe { tensordict_sys::td_abi_version() }"),
            ("bindings/julia/test/dict.jl", "TensorDicts.td_lock(td)"),
            ("examples/csharp/reader/Program.cs", "Native.td_lock(td);"),
        ):
            with self.subTest(path):
                (line,) = self.found(path, "\n" + line)
                self.assertTrue(line.startswith(f"{path}:2: "), line)
                self.assertIn("the raw layer", line)

    def test_ownership_and_errors_have_one_place(self):
        for path, line, what in (
            ("bindings/rust/tensordict/src/shape.rs", "sys::td_free(t)", "giving a handle back"),
            ("bindings/julia/src/shape.jl", "td_last_error_code()", "the last error"),
            ("bindings/csharp/src/TensorDict/Tensor.cs", "Native.td_keys_len(k)", "lists of keys"),
        ):
            with self.subTest(path):
                (line,) = self.found(path, line)
                self.assertIn(what, line)

    def test_what_is_allowed_passes(self):
        for path, line in (
            ("bindings/rust/tensordict/src/handle.rs", "sys::td_free(t)"),
            ("bindings/julia/src/shape.jl", "td_view(td) # not td_free"),
            ("bindings/csharp/src/TensorDict/obj/Made.cs", "Native.td_free(t);"),
            ("bindings/csharp/test/TensorDict.Tests/EntryTests.cs", '"td_get"'),
        ):
            with self.subTest(path):
                self.assertEqual(self.found(path, line), [])

    def test_every_place_that_is_named_exists(self):
        for what, (_, allowed) in check_layers.RULES.items():
            for path in allowed:
                self.assertTrue((context.ROOT / path).exists(), f"{what}: {path}")


if __name__ == "__main__":
    unittest.main()
