#!/usr/bin/env python3
"""gen_misuse.py must notice a function it knows no arguments for: test_gen_misuse.py SWIG INCLUDE_DIR"""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SWIG, INCLUDE = sys.argv[1:3]
GENERATOR = pathlib.Path(__file__).with_name("gen_misuse.py")


class Generate(unittest.TestCase):
    def generate(self, declaration, kind="misuse"):
        """What the generator writes, or says, when td_device.h has one more declaration."""
        with tempfile.TemporaryDirectory() as folder:
            include, output = pathlib.Path(folder, "include"), pathlib.Path(folder, "out.c")
            shutil.copytree(INCLUDE, include)
            header = include / "tensordict/td_device.h"
            before, end, after = header.read_text().partition("TD_END_C\n")
            self.assertTrue(end)
            header.write_text(before + declaration + "\n" + end + after)
            done = subprocess.run([sys.executable, GENERATOR, SWIG, include, output, kind], capture_output=True, text=True)
            return done.returncode, output.read_text() if done.returncode == 0 else done.stderr

    def test_a_new_function_is_tested(self):
        code, text = self.generate("td_status td_like_sized(const td_tensordict *td, td_tensordict **result);")
        self.assertEqual(code, 0)
        self.assertIn("TD_TEST(td_like_sized)", text)
        self.assertIn("TD_EXPECT(td_like_sized(NULL, &o_result), TD_ERR_NULL_ARGUMENT);", text)
        self.assertIn("TD_EXPECT(td_like_sized(m.td, NULL), TD_ERR_NULL_ARGUMENT);", text)
        self.assertIn("TD_EXPECT(td_like_sized(m.freed_tensordict, &o_result), TD_ERR_BAD_HANDLE);", text)

    def test_a_new_function_is_called_without_memory(self):
        code, text = self.generate("td_status td_like_sized(const td_tensordict *td, td_tensordict **result);", "allocation")
        self.assertEqual(code, 0)
        self.assertIn("const td_status status = td_like_sized(a_td, &o_result);", text)
        code, text = self.generate("int32_t td_length(const td_tensordict *TD_NULLABLE td);", "allocation")
        self.assertEqual(code, 0)
        self.assertIn("WITHOUT_MEMORY((void)td_length(m.td));", text)

    def test_nullable_pointers_may_be_null(self):
        code, text = self.generate("td_status td_like_sized(const td_tensordict *td, const char *TD_NULLABLE dir);")
        self.assertEqual(code, 0)
        self.assertNotIn("td_like_sized(m.td, NULL), TD_ERR_NULL_ARGUMENT", text)

    def test_an_unknown_parameter_is_refused(self):
        code, text = self.generate("td_status td_like_sized(const td_tensordict *td, const char *flavour);")
        self.assertNotEqual(code, 0)
        self.assertIn("td_like_sized: no valid argument is known for 'flavour'", text)

    def test_an_unknown_handle_is_refused(self):
        code, text = self.generate("typedef struct td_cup td_cup; void td_cup_free(td_cup *TD_NULLABLE cup);")
        self.assertNotEqual(code, 0)
        self.assertIn("no valid handle is known for td_cup", text)

    def test_a_pointer_without_a_status_is_refused(self):
        code, text = self.generate("int32_t td_like_sized(const char *text);")
        self.assertNotEqual(code, 0)
        self.assertIn("td_like_sized takes a pointer that must not be NULL but returns no status", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
