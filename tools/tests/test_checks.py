"""The checks of the ABI find what they are for."""
import os
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [
    str(ROOT / "tools"),
    str(ROOT / "bindings/tools"),
    str(ROOT / "bindings/tools/tests"),
]

import check_abi  # noqa: E402
import check_docs  # noqa: E402
import check_since  # noqa: E402
import check_used  # noqa: E402
import version_script  # noqa: E402
from tdgen import marks  # noqa: E402
from test_reading import read  # noqa: E402

HEADER = """
#define TD_API(major, minor)
#define TD_VERSION_MAJOR 0
#define TD_VERSION_MINOR 2
/** A thing. */
typedef struct td_thing td_thing;
/** Tells how it went. */
typedef int32_t td_status;
enum {
  TD_OK = 0,    /**< well */
  TD_ERR_IO = 1 /**< not so well */
};
/**
 * Copies.
 *
 * @param thing borrowed
 * @param name  written when it fits
 * @param size  the length
 * @return TD_OK, TD_ERR_IO
 * @threadsafety any thread
 */
TD_API(0, 1) td_status td_copy(const td_thing *thing, char *name, size_t *size);
"""


class Docs(unittest.TestCase):
    def complaints(self, old="", new=""):
        self.assertIn(old, HEADER)
        with mock.patch.object(check_docs, "check_must_use", return_value=[]), mock.patch.object(
            check_docs, "check_first_lines", return_value=[]
        ):
            return check_docs.check(read(HEADER.replace(old, new) if old else HEADER))

    def test_nothing_to_say(self):
        self.assertEqual(self.complaints(), [])

    def test_first_lines_name_what_is_declared(self):
        found = check_docs.check_first_lines(read(HEADER))
        self.assertIn("td_tensor.h begins with 'td_tensor', which is not declared", found)

    def test_each_gap_is_named(self):
        for old, new, complaint in (
            (
                "borrowed",
                "a thing",
                "td_copy: parameter 'thing' is neither borrowed, new, consumed nor written",
            ),
            (
                "borrowed",
                "borrowed; may be NULL",
                "td_copy: parameter 'thing' may be NULL by its words",
            ),
            (" * @param size  the length\n", "", "td_copy: parameter 'size' is not described"),
            ("@param size", "@param sizes", "td_copy describes 'sizes', which is no parameter"),
            ("@return TD_OK, ", "@return ", "td_copy does not begin @return with TD_OK"),
            (", TD_ERR_IO", ", TD_ERR_OI", "td_copy names 'TD_ERR_OI', which is no status"),
            (" * @threadsafety any thread\n", "", "td_copy has no @threadsafety"),
            ("TD_API(0, 1) ", "", "td_copy has no TD_API"),
            ("/**< well */", "", "TD_OK has no words"),
            ("A thing.", "A thing", "td_thing has no sentence of its own"),
        ):
            with self.subTest(complaint):
                self.assertTrue(any(c.startswith(complaint) for c in self.complaints(old, new)))


class Since(unittest.TestCase):
    form = "td_status td_copy(const td_thing *, char *, size_t *)"

    def complaints(self, released, header=HEADER):
        with mock.patch.object(check_since, "read_released", return_value=released):
            return check_since.check(read(header))

    def test_unchanged(self):
        self.assertEqual(self.complaints({"td_copy": ("0.1", self.form)}), [])

    def test_changed_gone_and_new(self):
        changed = self.complaints({"td_copy": ("0.1", self.form.replace("char", "void"))})
        self.assertEqual(
            changed,
            [
                "'td_copy' was released as '0.1 td_status td_copy(const td_thing *, void *, "
                f"size_t *)' and is now '0.1 {self.form}'"
            ],
        )
        gone = self.complaints(
            {"td_copy": ("0.1", self.form), "td_old": ("0.1", "void td_old(void)")}
        )
        self.assertEqual(gone, ["'td_old' was released with 0.1 and is gone"])
        self.assertEqual(self.complaints({}), ["'td_copy' is new and has TD_API of 0.1; this is 0.2"])

    def test_new_with_the_current_version(self):
        self.assertEqual(self.complaints({}, HEADER.replace("TD_API(0, 1)", "TD_API(0, 2)")), [])

    def test_another_abi(self):
        header = HEADER.replace("#define TD_VERSION_MINOR 2", "#define TD_VERSION_MINOR 2\n#define TD_ABI_VERSION 9")
        released = {"td_copy": ("0.1", self.form), "td_old": ("0.1", "void td_old(void)")}
        with mock.patch.object(check_since, "released_abi", return_value=8):
            self.assertEqual(self.complaints(released, header=header), [])
            released["td_copy"] = ("0.1", self.form.replace("char", "void"))
            self.assertEqual(
                self.complaints(released, header=header),
                ["'td_copy' is new and has TD_API of 0.1; this is 0.2"],
            )
        with mock.patch.object(check_since, "released_abi", return_value=9):
            self.assertIn(
                "'td_old' was released with 0.1 and is gone",
                self.complaints(released, header=header),
            )

    def test_mark_disagrees(self):
        self.assertEqual(
            self.complaints({"td_copy": ("0.2", self.form)}),
            [f"'td_copy' was released as '0.2 {self.form}' and is now '0.1 {self.form}'"],
        )


class Abi(unittest.TestCase):
    def test_sets(self):
        errors = []
        check_abi.compare("here", {"td_a", "td_b"}, {"td_b", "td_c"}, errors)
        self.assertEqual(errors, ["here: 'td_c' is missing", "here: 'td_a' should not be there"])

    def test_version_script_hides_the_rest(self):
        script = version_script.version_script(["td_b", "td_a"], "7")
        self.assertEqual(script, "TENSORDICT_7 {\n  global:\n    td_a;\n    td_b;\n  local:\n    *;\n};\n")

    def test_marks_in_every_form_are_read(self):
        text = (
            "/* TD_API(9, 9) td_no(void) */\n#define TD_API(major, minor)\n"
            "TD_API(0, 1) int32_t td_a(void) TD_NOEXCEPT;\n"
            "TD_API(0, 2) TD_MUST_USE\ntd_status td_b(const td_thing *thing, td_fn td_c);\n"
            "TD_API(1, 10)\nconst char *td_d(void);\nvoid td_e(void);\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "td_marked.h"
            path.write_text(text, encoding="utf-8")
            self.assertEqual(marks.read([path]), {"td_a": "0.1", "td_b": "0.2", "td_d": "1.10"})

    def test_macro_that_the_generator_dropped(self):
        found = {
            "TD_VERSION_MAJOR": "0",
            "TD_VERSION_MINOR": "2",
            "TD_ANY": "INT64_MIN",
            "TD_NULLABLE": "",
        }
        errors = []
        with mock.patch.object(check_abi, "macros", return_value=found):
            check_abi.check_macros(read(HEADER), ["cc"], errors)
        self.assertEqual(len(errors), 1)
        self.assertIn("'TD_ANY' is missing", errors[0])

    def test_macros_of_the_headers(self):
        found = check_abi.macros([os.environ.get("CC", "cc")])
        self.assertEqual(found["TD_ABI_VERSION"], "2")
        self.assertNotIn("TD_API", found)

    def layout(self):
        return check_abi.layout_of(read(HEADER))

    def test_layout_left_out(self):
        errors = []
        with mock.patch.object(check_abi.abi_layout, "read", return_value=self.layout()):
            check_abi.check_layout(read(HEADER), errors)
            self.assertEqual(errors, [])
            check_abi.check_layout(read(HEADER.replace("TD_ERR_IO", "TD_ERR_NEW")), errors)
        self.assertEqual(len(errors), 1)
        self.assertIn("TD_ERR_NEW", errors[0])

    def test_layout_does_not_change(self):
        new = self.layout() | {"td_added": "struct 4: a@0+4"}
        self.assertEqual(check_abi.merged_layout(new, self.layout()), new)
        with self.assertRaises(SystemExit):
            check_abi.merged_layout(self.layout(), new)
        with self.assertRaises(SystemExit):
            check_abi.merged_layout(new, new | {"td_added": "struct 8: a@0+8"})

    def test_layout_is_written_and_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "layout.txt"
            path.write_text(check_abi.abi_layout.written(self.layout()), encoding="utf-8")
            self.assertEqual(check_abi.abi_layout.read(path), self.layout())


class Used(unittest.TestCase):
    def test_comments_do_not_count(self):
        with self.subTest("used"), mock.patch.object(Path, "glob", return_value=[Path(__file__)]):
            names = check_used.used_names("", "", "#")
        self.assertIn("td_copy", names)
        # td_only_in_a_comment
        self.assertNotIn("td_only_in" + "_a_comment", names)

    def test_list_is_read_strictly(self):
        lines = "# reasons\nrust td_copy not wanted\nrust td_copy\nperl td_copy x\nrust td_gone x\n"
        with mock.patch.object(Path, "read_text", return_value=lines):
            left_out, errors = check_used.read_uncovered({"td_copy"})
        self.assertEqual(left_out["rust"], {"td_copy"})
        self.assertEqual([e.split(":")[1] for e in errors], ["3", "4", "5"])


if __name__ == "__main__":
    unittest.main()
