"""C types as SWIG writes them, and documentation comments."""
import unittest

import context  # noqa: F401

from tdgen import cdecl, csharp, docs, julia, rust, swig, text
from tdgen.cdecl import Array, Function, Named, Pointer, UnknownType


class Parsing(unittest.TestCase):
    def test_qualifiers_stay_at_their_level(self):
        self.assertEqual(
            cdecl.parse("p.q(const).p.q(const).char"),
            Pointer(Pointer(Named("char", const=True), const=True)),
        )
        self.assertEqual(cdecl.parse("p.p.td_tensor"), Pointer(Pointer(Named("td_tensor"))))

    def test_volatile_means_nullable(self):
        self.assertEqual(
            cdecl.parse("q(volatile).p.q(const).int64_t"),
            Pointer(Named("int64_t", const=True), nullable=True),
        )
        self.assertEqual(
            cdecl.parse("q(volatile).td_release_fn"), Named("td_release_fn", nullable=True)
        )

    def test_result_stands_behind_the_parameters(self):
        self.assertEqual(
            cdecl.parse("f(p.q(const).p.void,size_t).p.q(const).char"),
            Function(Pointer(Named("char", const=True))),
        )

    def test_arrays_and_tags(self):
        self.assertEqual(cdecl.parse("a(3).uint64_t"), Array(Named("uint64_t"), 3))
        self.assertEqual(cdecl.parse("p.struct DLManagedTensor"), Pointer(Named("DLManagedTensor")))

    def test_what_is_not_understood_is_refused(self):
        for bad in ("unsigned long", "q(restrict).p.char", "a(N).char", "m(T).char", "v(...)"):
            with self.subTest(bad), self.assertRaises(UnknownType):
                cdecl.parse(bad)


class Writing(unittest.TestCase):
    paths = cdecl.parse("p.p.q(const).p.q(const).char")

    def test_c(self):
        self.assertEqual(cdecl.to_c(self.paths, "path"), "const char *const **path")
        self.assertEqual(cdecl.to_c(cdecl.parse("a(3).uint64_t"), "(*p)"), "uint64_t (*p)[3]")
        tag = cdecl.parse("p.struct X")
        self.assertEqual(cdecl.to_c(tag, "x", frozenset({"X"})), "struct X *x")

    def test_rust(self):
        self.assertEqual(rust.type_of(self.paths), "*mut *const *const c_char")
        self.assertEqual(rust.type_of(cdecl.parse("a(3).uint64_t")), "[u64; 3]")
        self.assertEqual(
            [rust.name_of(w) for w in ("type", "self", "dim")], ["r#type", "self_", "dim"]
        )

    def test_julia(self):
        self.assertEqual(julia.type_of(self.paths), "Ptr{Ptr{Cstring}}")
        self.assertEqual(julia.type_of(cdecl.parse("p.char")), "Ptr{UInt8}")
        self.assertEqual(julia.type_of(cdecl.parse("a(3).uint64_t")), "NTuple{3,UInt64}")
        self.assertEqual([julia.name_of(w) for w in ("end", "dim")], ["end_", "dim"])

    def test_csharp(self):
        self.assertEqual(csharp.type_of(self.paths, set()), "byte***")
        self.assertEqual(csharp.type_of(Named("td_log_fn"), {"td_log_fn"}), "IntPtr")
        self.assertEqual([csharp.name_of(w) for w in ("base", "dim")], ["@base", "dim"])


class Constants(unittest.TestCase):
    def test_literals_and_arithmetic(self):
        cases = {
            "0x10": 16,
            "(1u << 3)": 8,
            "-9223372036854775807LL - 1": -(2**63),
            "1 | 4": 5,
            '"a b"': "a b",
        }
        for written, value in cases.items():
            self.assertEqual(swig.constant_value(written), value, written)
        self.assertEqual(swig.constant_value("TD_A + 1", {"TD_A": 4}), 5)

    def test_what_is_not_understood_is_refused(self):
        for bad in ("INT64_MAX", "sizeof(int)", "((int32_t)-1)", "{1, 2}", ""):
            with self.subTest(bad), self.assertRaises(UnknownType):
                swig.constant_value(bad)


COMMENT = """
 * Finds <one> of `a[0]`, named TD_OK.
 *
 * More of it,
 * on two lines.
 *
 * @param first  borrowed; says a lot
 *               on two lines
 * @param second
 *
 * @return TD_OK, or
 *         TD_ERR_IO
 * @threadsafety any thread
 """


class Comments(unittest.TestCase):
    doc = docs.parse(COMMENT)

    def test_parts(self):
        self.assertEqual(self.doc.brief, "Finds <one> of `a[0]`, named TD_OK.")
        self.assertEqual(self.doc.body, ["More of it, on two lines."])
        self.assertEqual(
            self.doc.params, {"first": "borrowed; says a lot on two lines", "second": ""}
        )
        self.assertEqual(
            (self.doc.returns, self.doc.threadsafety), ("TD_OK, or TD_ERR_IO", "any thread")
        )

    def test_trailing_comment_of_an_item(self):
        self.assertEqual(docs.parse(" the dictionary is locked ").brief, "the dictionary is locked")

    def test_unknown_command_is_refused(self):
        with self.assertRaisesRegex(docs.DocError, "@throws"):
            docs.parse("\n * Text.\n * @throws nothing\n ")

    def test_each_language_escapes_its_own(self):
        self.assertEqual(rust.escape(self.doc.brief), "Finds \\<one\\> of `a[0]`, named `TD_OK`.")
        self.assertEqual(
            csharp.escape(self.doc.brief), "Finds &lt;one&gt; of <c>a[0]</c>, named <c>TD_OK</c>."
        )
        self.assertEqual(julia.escape('costs $5 "or" a\\b'), 'costs \\$5 \\"or\\" a\\\\b')

    def test_names_are_marked_once(self):
        self.assertEqual(
            text.mark_names("see td_free() and `td_get()`"), "see `td_free()` and `td_get()`"
        )


if __name__ == "__main__":
    unittest.main()
