"""A small header through SWIG, into the interface, and out as C."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

import context

from tdgen import csharp, julia, roundtrip, rust, swig
from tdgen.cdecl import Named, Pointer, UnknownType

HEADER = """
#include <stddef.h>
#include <stdint.h>
#ifndef TD_NULLABLE
#define TD_NULLABLE
#endif
#define TD_API(major, minor)
#define TD_LIMIT 7
/** A thing. */
typedef struct td_thing td_thing;
/** A colour. */
typedef int32_t td_colour;
enum {
  TD_RED = 1 << 2, /**< like blood */
  TD_BLUE          /**< like the sky */
};
/** Is called. */
typedef void (*td_call_fn)(void *TD_NULLABLE user, td_colour colour);
/** Choices. */
typedef struct td_choice {
  uint32_t struct_size; /**< sizeof(td_choice) */
  int32_t index;        /**< which */
  td_thing *thing;      /**< borrowed */
  uint64_t reserved[2]; /**< zero */
} td_choice;
/** Paints. */
TD_API(0, 1) td_colour td_paint(const td_thing *thing, const td_choice *TD_NULLABLE choice, td_call_fn callback);
"""


def read(header: str = HEADER, feature: str = ""):
    """Reads text as if it were the public header td_small.h."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "td_small.h").write_text(header)
        interface = Path(folder, "small.i")
        interface.write_text(f'%module small\n{feature}\n%include "td_small.h"\n')
        return swig.read(interface, Path(folder), context.SWIG)


def compiles(source: str, header: str = HEADER) -> str:
    """Compiles generated C against a header; gives back what the compiler says."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tensordict").mkdir()
        Path(folder, "tensordict/td.h").write_text(header)
        Path(folder, "proof.c").write_text(source)
        command = [
            os.environ.get("CC", "cc"),
            "-std=c11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-pedantic",
            "-fsyntax-only",
            f"-I{folder}",
            f"{folder}/proof.c",
        ]
        return subprocess.run(command, capture_output=True, text=True).stderr


class Reading(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.api = read(feature='%feature("td:default", "index=-1") td_choice;')

    def test_enum_goes_with_its_typedef(self):
        enum = self.api.enums[0]
        self.assertEqual(
            (enum.name, enum.base, enum.doc.brief), ("td_colour", "int32_t", "A colour.")
        )
        self.assertEqual(
            [(i.name, i.value, i.doc) for i in enum.items],
            [("TD_RED", 4, "like blood"), ("TD_BLUE", 5, "like the sky")],
        )

    def test_layout(self):
        self.assertEqual(self.api.layout(self.api.structs[0]), (32, 8, [0, 4, 8, 16]))

    def test_function(self):
        paint = self.api.functions[0]
        self.assertEqual((paint.result, paint.doc.since), (Named("td_colour"), "0.1"))
        self.assertEqual(
            paint.params[1].type, Pointer(Named("td_choice", const=True), nullable=True)
        )

    def test_opaque_struct_and_constant(self):
        self.assertEqual([(h.name, h.foreign) for h in self.api.handles], [("td_thing", False)])
        self.assertEqual([(c.name, c.value) for c in self.api.constants], [("TD_LIMIT", 7)])

    def test_default_reaches_every_language(self):
        for line in (
            "struct_size: size_of::<Self>() as u32,",
            "index: -1,",
            "thing: core::ptr::null_mut(),",
        ):
            self.assertIn(f"\n            {line}\n", rust.write(self.api))
        self.assertIn(
            "td_choice(; index = -1, thing = C_NULL, reserved = (0, 0)) =\n"
            "    td_choice(sizeof(td_choice), index, thing, reserved)",
            julia.write(self.api),
        )
        self.assertIn(
            "new td_choice { struct_size = (uint)sizeof(td_choice), index = -1 };",
            csharp.write(self.api),
        )

    def test_digest_follows_the_interface(self):
        self.assertEqual(
            self.api.digest(),
            read(feature='%feature("td:default", "index=-1") td_choice;').digest(),
        )
        self.assertNotEqual(self.api.digest(), read(HEADER.replace("1 << 2", "1 << 3")).digest())


class Refusing(unittest.TestCase):
    def refuses(self, old: str, new: str, message: str, error=UnknownType):
        self.assertIn(old, HEADER)
        with self.assertRaisesRegex(error, message):
            read(HEADER.replace(old, new))

    def test_unknown_types(self):
        self.refuses(
            "const td_thing *thing,",
            "const td_other *thing,",
            "parameter 'thing' of td_paint has the C type 'td_other'",
        )
        self.refuses("int32_t index;", "long index;", "td_choice.index has the C type 'long'")
        self.refuses(
            "td_colour td_paint", "bool td_paint", "the result of td_paint has the C type 'bool'"
        )
        self.refuses(
            "typedef int32_t td_colour", "typedef long td_colour", "typedef 'td_colour' of 'long'"
        )

    def test_struct_by_value(self):
        self.refuses(
            "const td_choice *TD_NULLABLE choice", "td_choice choice", "passes 'td_choice' by value"
        )

    def test_enum_without_typedef(self):
        self.refuses("typedef int32_t td_colour;", "typedef td_thing *td_colour;", "td_colour")

    def test_parameter_without_name(self):
        self.refuses(
            "const td_thing *thing",
            "const td_thing *",
            "td_paint: a parameter of type .* has no name",
        )

    def test_default_of_no_member(self):
        with self.assertRaisesRegex(UnknownType, "td_choice has no member 'colour'"):
            read(feature='%feature("td:default", "colour=1") td_choice;')

    def test_syntax_error(self):
        self.refuses("td_colour td_paint(", "td_colour td_paint((", "Syntax error", swig.SwigError)

    def test_missing_program(self):
        with self.assertRaisesRegex(swig.SwigError, "'no-such-swig' cannot be run"):
            swig.read(Path("x.i"), Path("."), "no-such-swig")


class RoundTrip(unittest.TestCase):
    """The proof compiles, and whatever is misread on the way stops it."""

    proof = None

    @classmethod
    def setUpClass(cls):
        cls.proof = roundtrip.write(read())

    def test_proof_holds(self):
        self.assertEqual(compiles(self.proof), "")

    def test_proof_fails_when_something_is_lost(self):
        for right, wrong in (
            ("const td_thing *thing", "td_thing *thing"),
            ("TD_BLUE == 5", "TD_BLUE == 6"),
            ("td_choice, index) == 4", "td_choice, index) == 8"),
            ("uint64_t (*", "int64_t (*"),
            ("void *user", "char *user"),
            ("TD_LIMIT == 7", "TD_LIMIT == 8"),
        ):
            with self.subTest(right):
                self.assertIn(right, self.proof)
                self.assertIn("error", compiles(self.proof.replace(right, wrong)))


if __name__ == "__main__":
    unittest.main()
