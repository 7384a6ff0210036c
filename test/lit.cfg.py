# How lit runs the tests. TC_BUILD (in the environment, or lit --param TC_BUILD=...) names the build folder (default: build/release);
# TC_CHECK_SUBSET=sanitizer runs the tests that exercise our own C code.
import os
import shutil

import lit.formats

config.name = "tc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".c"]
config.test_source_root = os.path.dirname(__file__)
source_root = os.path.dirname(config.test_source_root)
build = os.path.join(source_root, lit_config.params.get("TC_BUILD") or os.environ.get("TC_BUILD", "build/release"))
if not os.path.isdir(os.path.join(build, "bin")):
    lit_config.fatal("no build in %s: cmake --preset release && cmake --build --preset release, or set TC_BUILD" % build)
config.test_exec_root = os.path.join(build, "test")
config.excludes = ["models", "fuzz", "Inputs"]
if os.environ.get("TC_CHECK_SUBSET") == "sanitizer":
    config.excludes += ["passes", "out-of-tree.test"]

llvm = os.environ.get("TC_LLVM_DIR", "/usr/lib/llvm-22")
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "bin"), os.path.join(llvm, "bin"), os.environ["PATH"]])
config.environment["TC_BUILD_DIR"] = build
config.environment["TC_SOURCE_DIR"] = source_root
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TC_MODELS_DIR", "TC_NUM_THREADS", "CUDA_HOME"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# LLVM is not instrumented and keeps global tables: leaks are looked for in what our own code allocates.
suppressions = os.path.join(config.test_source_root, "lsan.supp")
config.environment.setdefault("LSAN_OPTIONS", "suppressions=" + suppressions + ":print_suppressions=0")

config.substitutions.append(("%models", os.path.join(config.test_source_root, "models")))
config.substitutions.append(("%build", build))
config.substitutions.append(("%source", source_root))

for tool in ("ptxas", "spirv-val", "pkg-config", "cmake", "ninja"):
    if shutil.which(tool, path=config.environment["PATH"]):
        config.available_features.add(tool)
if os.path.exists("/dev/nvidiactl"):
    config.available_features.add("cuda")
if os.environ.get("TC_MODELS_DIR"):
    config.available_features.add("models")
if os.path.basename(build) == "asan":
    config.available_features.add("asan")
