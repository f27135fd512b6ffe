from spack.package import *


class Tensordict(MesonPackage):
    """Dictionaries of tensors with a batch size, behind a C interface, in the format of Python's tensordict."""

    license("MIT")
    # An archive of a release in the current folder; its sum stands in SHA256SUMS.
    version("0.3.0", url="file://tensordict_0.3.0.orig.tar.xz")

    variant("hdf5", default=True, description="HDF5 files")

    depends_on("cxx", type="build")
    depends_on("meson@1.0:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("py-torch@1.13:")
    depends_on("nlohmann-json@3.10:")
    depends_on("zlib-api")
    depends_on("xxhash")
    depends_on("openssl")
    depends_on("hdf5~mpi", when="+hdf5")

    def meson_args(self):
        torch = join_path(python_platlib_of(self.spec), "torch")
        off = ("arrow", "video", "distributed", "tests", "rust", "julia", "csharp", "lua", "swig", "mujoco", "bench")
        args = ["-D{0}=disabled".format(name) for name in off]
        return args + [
            "-Dcombine=true",
            "-Dlibtorch={0}".format(torch),
            "-Dhdf5={0}".format("enabled" if self.spec.satisfies("+hdf5") else "disabled"),
        ]


def python_platlib_of(spec):
    """Where pip's torch lies below the package that has it."""
    return join_path(spec["py-torch"].prefix, spec["python"].package.platlib)
