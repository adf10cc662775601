# SPDX-License-Identifier: MIT
# NOT RUN HERE: no test of this project calls Conan. A recipe for Conan 2 that packages the source tree around it:
#   conan create deque/cmake/recipes/conan
import os
import re

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

ROOT = os.path.join("..", "..", "..", "..")


class RunqkitRecipe(ConanFile):
    name = "runqkit"
    description = "Lock-free run queues for schedulers, with the evidence that their memory orders are right"
    license = "MIT"
    topics = ("lock-free", "work-stealing", "scheduler", "header-only")
    settings = "os", "arch", "compiler", "build_type"
    options = {"c_interface": [True, False]}
    default_options = {"c_interface": False}

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, ROOT, "CMakeLists.txt"))
        self.version = re.search(r"^ *VERSION ([0-9.]+)$", text, re.M)[1]

    def export_sources(self):
        source = os.path.join(self.recipe_folder, ROOT)
        copy(self, "*", source, self.export_sources_folder, excludes=("build/*", ".git/*"))

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)

    def package_id(self):
        if not self.info.options.c_interface:
            self.info.clear()  # headers only: one package for every compiler

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "MODELS", "PROPTESTS", "BENCH", "SCHEDULER"):
            toolchain.cache_variables[f"RUNQ_BUILD_{part}"] = False
        toolchain.cache_variables["RUNQ_BUILD_C"] = bool(self.options.c_interface)
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan generates its own package files.
        for folder in ("lib/cmake", "lib/pkgconfig", "share"):
            rmdir(self, os.path.join(self.package_folder, folder))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "runqkit")
        headers = self.cpp_info.components["deque"]
        headers.set_property("cmake_target_name", "runq::deque")
        headers.set_property("pkg_config_name", "runqkit")
        headers.libdirs = []
        headers.bindirs = []
        if self.settings.os in ("Linux", "FreeBSD"):
            headers.system_libs = ["pthread"]
        if self.options.c_interface:
            c = self.cpp_info.components["c"]
            c.set_property("cmake_target_name", "runq::c")
            c.set_property("pkg_config_name", "runqkit_c")
            c.libs = ["runqkit_c"]
            if self.settings.os in ("Linux", "FreeBSD"):
                c.system_libs = ["pthread"]
