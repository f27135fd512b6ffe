"""Builds the checkout that this recipe lies in. `conan create packaging/recipes/conan`."""
import os

from conan import ConanFile
from conan.tools.files import copy
from conan.tools.gnu import PkgConfigDeps
from conan.tools.meson import Meson, MesonToolchain

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..")
NOT_PACKED = ("tests", "rust", "julia", "csharp", "lua", "swig", "mujoco", "bench", "arrow", "video", "distributed")


class TensorDict(ConanFile):
    name = "tensordict"
    version = "0.3.0"
    license = "MIT"
    description = "Dictionaries of tensors with a batch size, behind a C interface, in the format of Python's tensordict"
    package_type = "shared-library"
    settings = "os", "arch", "compiler", "build_type"
    # The folder of a libtorch: pip's torch or the unpacked zip. Empty: that of the system.
    options = {"libtorch": ["", "ANY"]}
    default_options = {"libtorch": ""}
    tool_requires = ("meson/[>=1.0]",)

    def requirements(self):
        self.requires("nlohmann_json/[>=3.10]")
        self.requires("zlib/[>=1.2.11]")
        self.requires("xxhash/[>=0.8]")
        self.requires("openssl/[>=1.1.1]")

    def export_sources(self):
        for folder in ("capi", "core", "modules", "bindings/tools", "bindings/swig", "tools"):
            copy(self, folder + "/*", ROOT, self.export_sources_folder)
        for file in ("meson.build", "meson_options.txt", "LICENSE", "bindings/meson.build"):
            copy(self, file, ROOT, self.export_sources_folder)

    def generate(self):
        PkgConfigDeps(self).generate()
        toolchain = MesonToolchain(self)
        toolchain.project_options.update({name: "disabled" for name in NOT_PACKED})
        toolchain.project_options.update({"combine": True, "libtorch": str(self.options.libtorch)})
        toolchain.generate()

    def build(self):
        meson = Meson(self)
        meson.configure()
        meson.build()

    def package(self):
        Meson(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.libs = ["tensordict"]
        self.cpp_info.set_property("cmake_file_name", "TensorDict")
        self.cpp_info.set_property("cmake_target_name", "TensorDict::tensordict")
        self.cpp_info.set_property("pkg_config_name", "tensordict")
