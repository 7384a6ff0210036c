// LLVM-dialect modules to code: in memory (ORC), or as text and objects for a CPU, PTX and SPIR-V.
#include "compile.h"

#include "log.h"
#include "mlir-c/Target/LLVMIR.h"

#include "llvm-c/Analysis.h"
#include "llvm-c/Core.h"
#include "llvm-c/Error.h"
#include "llvm-c/LLJIT.h"
#include "llvm-c/Orc.h"
#include "llvm-c/OrcEE.h"
#include "llvm-c/Target.h"
#include "llvm-c/TargetMachine.h"
#include "llvm-c/Transforms/PassBuilder.h"

#include <pthread.h>
#include <stdio.h>

static pthread_once_t targets_once = PTHREAD_ONCE_INIT;

static void initialise_targets(void) {
#define TARGET(name)                                                                                                             \
  LLVMInitialize##name##TargetInfo();                                                                                            \
  LLVMInitialize##name##Target();                                                                                                \
  LLVMInitialize##name##TargetMC();                                                                                              \
  LLVMInitialize##name##AsmPrinter();
  TARGET(X86)
  TARGET(AArch64)
  TARGET(NVPTX)
  TARGET(SPIRV)
#undef TARGET
  LLVMInitializeX86AsmParser();
  LLVMInitializeAArch64AsmParser();
}

static tc_status llvm_error(LLVMErrorRef error, const char *what) {
  if (!error)
    return TC_OK;
  char *text = LLVMGetErrorMessage(error);
  tc_status status = tc__error(TC_ERR_COMPILE, NULL, "%s: %s", what, text);
  LLVMDisposeErrorMessage(text);
  return status;
}

// ---- target machines --------------------------------------------------------------------------------------------------------------------------------

static tc_status create_machine(const tc__emit_options *o, LLVMTargetMachineRef *out) {
  pthread_once(&targets_once, initialise_targets);
  char *triple = NULL, *cpu = NULL, *features = NULL, *error = NULL;
  bool host = !o->cpu || !*o->cpu || strcmp(o->cpu, "native") == 0;
  if (o->kind == TC__EMIT_PTX) {
    triple = LLVMCreateMessage("nvptx64-nvidia-cuda");
    cpu = LLVMCreateMessage(host ? "sm_90" : o->cpu);
    features = LLVMCreateMessage(o->features && *o->features ? o->features : tc__cpu_least_ptx(cpu) > 80 ? "" : "+ptx80"); // "" is the least
  } else if (o->kind == TC__EMIT_SPIRV) {
    triple = LLVMCreateMessage(o->cpu && *o->cpu ? o->cpu : "spirv64-unknown-unknown");
    cpu = LLVMCreateMessage("");
    features = LLVMCreateMessage(o->features ? o->features : "");
  } else {
    triple = LLVMGetDefaultTargetTriple();
    cpu = host ? LLVMGetHostCPUName() : LLVMCreateMessage(o->cpu);
    features = LLVMCreateMessage(o->features ? o->features : "");
  }
  LLVMTargetRef target;
  bool this_cpu = host && o->kind != TC__EMIT_PTX && o->kind != TC__EMIT_SPIRV; // its name may be newer than our list, not a given feature
  tc_status status = tc__cpu_check(triple, this_cpu ? "generic" : cpu, features);
  if (status == TC_OK && this_cpu) {
    tc__str all = {0};
    char *found = LLVMGetHostCPUFeatures();
    tc__str_printf(&all, "%s%s%s", found, *features ? "," : "", features);
    LLVMDisposeMessage(found);
    LLVMDisposeMessage(features);
    features = LLVMCreateMessage(all.data ? all.data : "");
    status = all.oom ? tc__oom() : TC_OK;
    tc__str_free(&all);
  }
  if (status != TC_OK) {
    // reported
  } else if (LLVMGetTargetFromTriple(triple, &target, &error)) {
    status = tc__error(TC_ERR_UNSUPPORTED, NULL, "no code generator for '%s': %s", triple, error);
    LLVMDisposeMessage(error);
  } else {
    bool gpu = o->kind == TC__EMIT_PTX || o->kind == TC__EMIT_SPIRV;
    *out = LLVMCreateTargetMachine(target, triple, cpu, features, o->opt_level >= 2 ? LLVMCodeGenLevelDefault : LLVMCodeGenLevelLess,
                                   gpu ? LLVMRelocDefault : LLVMRelocPIC, LLVMCodeModelDefault);
    if (!*out)
      status = tc__error(TC_ERR_UNSUPPORTED, NULL, "no target machine for '%s', CPU '%s'", triple, cpu);
  }
  LLVMDisposeMessage(triple);
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  return status;
}

int tc__cpu_vector_bits(const char *cpu) {
  if (cpu && *cpu) {
    static const char *const wide[] = {"x86-64-v4", "skylake-avx512", "icelake-server", "sapphirerapids", "znver4", "znver5"};
    for (size_t i = 0; i < TC_COUNTOF(wide); i++)
      if (strcmp(cpu, wide[i]) == 0)
        return 512;
    return strcmp(cpu, "x86-64") == 0 || strcmp(cpu, "x86-64-v2") == 0 ? 128 : 256;
  }
  pthread_once(&targets_once, initialise_targets);
  char *features = LLVMGetHostCPUFeatures();
  int bits = strstr(features, "+avx512f") ? 512 : strstr(features, "+avx2") ? 256 : 128;
  LLVMDisposeMessage(features);
  return bits;
}

static tc_status optimise(LLVMModuleRef module, LLVMTargetMachineRef machine, int level) {
  char *triple = LLVMGetTargetMachineTriple(machine);
  LLVMSetTarget(module, triple);
  LLVMDisposeMessage(triple);
  LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
  LLVMSetModuleDataLayout(module, layout);
  LLVMDisposeTargetData(layout);
  char pipeline[32];
  snprintf(pipeline, sizeof pipeline, "default<O%d>", level);
  LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
  LLVMPassBuilderOptionsSetLoopVectorization(options, true);
  LLVMPassBuilderOptionsSetLoopInterleaving(options, true);
  LLVMPassBuilderOptionsSetLoopUnrolling(options, true);
  LLVMErrorRef error = LLVMRunPasses(module, pipeline, machine, options);
  LLVMDisposePassBuilderOptions(options);
  return llvm_error(error, "optimising");
}

// ---- text and objects -------------------------------------------------------------------------------------------------------------------------------

// Every function with a body is a kernel: its calling convention says so.
static void mark_kernels(LLVMModuleRef module, tc__emit_kind kind) {
  enum { SPIR_KERNEL = 76, PTX_KERNEL = 71, SPIR_FUNC = 75 }; // llvm/IR/CallingConv.h
  for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
    if (!LLVMIsDeclaration(f))
      LLVMSetFunctionCallConv(f, kind == TC__EMIT_PTX ? PTX_KERNEL : SPIR_KERNEL);
    else if (kind == TC__EMIT_SPIRV && !LLVMGetIntrinsicID(f)) {
      LLVMSetFunctionCallConv(f, SPIR_FUNC);
      for (LLVMUseRef use = LLVMGetFirstUse(f); use; use = LLVMGetNextUse(use))
        LLVMSetInstructionCallConv(LLVMGetUser(use), SPIR_FUNC);
    }
  }
}

static tc_status emit_module(LLVMModuleRef module, const tc__emit_options *o, tc__str *out) {
  if (o->kind == TC__EMIT_PTX || o->kind == TC__EMIT_SPIRV)
    mark_kernels(module, o->kind);
  LLVMTargetMachineRef machine;
  TC_TRY(create_machine(o, &machine));
  tc_status status = optimise(module, machine, o->opt_level);
  if (status == TC_OK && o->kind == TC__EMIT_LLVMIR) {
    char *text = LLVMPrintModuleToString(module);
    tc__str_append(out, text);
    LLVMDisposeMessage(text);
  } else if (status == TC_OK) {
    char *error = NULL;
    LLVMMemoryBufferRef buffer;
    LLVMCodeGenFileType type = o->kind == TC__EMIT_OBJECT || o->kind == TC__EMIT_SPIRV ? LLVMObjectFile : LLVMAssemblyFile;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, module, type, &error, &buffer)) {
      status = tc__error(TC_ERR_COMPILE, NULL, "code generation: %s", error);
      LLVMDisposeMessage(error);
    } else {
      tc__str_append_n(out, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer));
      LLVMDisposeMemoryBuffer(buffer);
    }
  }
  LLVMDisposeTargetMachine(machine);
  return out->oom ? tc__oom() : status;
}

// Code generation reports what it cannot do through the context; the default handler prints and may exit.
static void on_llvm_diagnostic(LLVMDiagnosticInfoRef info, void *user) {
  char *text = LLVMGetDiagInfoDescription(info);
  switch (LLVMGetDiagInfoSeverity(info)) {
  case LLVMDSError:
    *(tc_status *)user = tc__error(TC_ERR_COMPILE, NULL, "%s", text);
    break;
  case LLVMDSWarning:
    tc__report(TC_SEVERITY_WARNING, NULL, "%s", text);
    break;
  default:
    break;
  }
  LLVMDisposeMessage(text);
}

tc_status tc__emit(MlirModule module, const tc__emit_options *options, tc__str *out) {
  LLVMContextRef ctx = LLVMContextCreate();
  tc_status reported = TC_OK;
  LLVMContextSetDiagnosticHandler(ctx, on_llvm_diagnostic, &reported);
  LLVMModuleRef llvm = mlirTranslateModuleToLLVMIR(mlirModuleGetOperation(module), ctx);
  tc_status status = llvm ? emit_module(llvm, options, out) : TC_ERR_COMPILE;
  if (status == TC_OK)
    status = reported;
  if (llvm)
    LLVMDisposeModule(llvm);
  LLVMContextDispose(ctx);
  return status;
}

// ---- the JIT ----------------------------------------------------------------------------------------------------------------------------------------

typedef struct part {
  LLVMContextRef ctx;
  LLVMModuleRef module;
  LLVMMemoryBufferRef object;
  const char *cpu;
  tc_status status, reported;
} part;

static void *compile_part(void *user) {
  part *p = user;
  tc__emit_options options = {.kind = TC__EMIT_OBJECT, .cpu = p->cpu, .opt_level = 3};
  LLVMTargetMachineRef machine;
  p->status = create_machine(&options, &machine);
  if (p->status != TC_OK)
    return NULL;
  p->status = optimise(p->module, machine, options.opt_level);
  char *error = NULL;
  if (p->status == TC_OK && LLVMTargetMachineEmitToMemoryBuffer(machine, p->module, LLVMObjectFile, &error, &p->object)) {
    p->status = tc__error(TC_ERR_COMPILE, NULL, "code generation: %s", error);
    LLVMDisposeMessage(error);
  }
  if (p->status == TC_OK)
    p->status = p->reported;
  LLVMDisposeTargetMachine(machine);
  return NULL;
}

static bool name_is(MlirStringRef s, const char *name, size_t n) { return s.length == n && memcmp(s.data, name, n) == 0; }

// Which kernel a function belongs to: itself or its ".body"; -1 for helpers that all share.
static int kernel_of(MlirOperation op, const char *const *names, size_t n_names) {
  MlirStringRef symbol;
  if (!tc__op_is(op, "llvm.func") || !tc__get_str(op, "sym_name", &symbol))
    return -1;
  size_t n = symbol.length > 5 && memcmp(symbol.data + symbol.length - 5, ".body", 5) == 0 ? symbol.length - 5 : symbol.length;
  for (size_t i = 0; i < n_names; i++)
    if (name_is((MlirStringRef){symbol.data, n}, names[i], strlen(names[i])))
      return (int)i;
  return -1;
}

static tc_status translate_part(MlirModule module, const char *const *names, size_t n_names, const int *owner, int which, part *p) {
  MlirOperation copy = mlirOperationClone(mlirModuleGetOperation(module));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);) {
    MlirOperation next = mlirOperationGetNextInBlock(op);
    int kernel = kernel_of(op, names, n_names);
    if (kernel >= 0 && owner[kernel] != which)
      mlirOperationDestroy(op);
    op = next;
  }
  p->ctx = LLVMContextCreate();
  LLVMContextSetDiagnosticHandler(p->ctx, on_llvm_diagnostic, &p->reported);
  p->module = mlirTranslateModuleToLLVMIR(copy, p->ctx);
  mlirOperationDestroy(copy);
  if (!p->module)
    return tc__error(TC_ERR_COMPILE, NULL, "the kernels could not be translated to LLVM IR: %s", tc_last_error());
  for (LLVMValueRef f = LLVMGetFirstFunction(p->module); f; f = LLVMGetNextFunction(f)) {
    if (LLVMIsDeclaration(f))
      continue;
    size_t length;
    const char *name = LLVMGetValueName2(f, &length);
    bool kernel = false;
    for (size_t i = 0; i < n_names; i++)
      kernel |= name_is((MlirStringRef){name, length}, names[i], strlen(names[i]));
    if (!kernel)
      LLVMSetLinkage(f, LLVMInternalLinkage);
  }
  return TC_OK;
}

// A rough weight of each kernel, for an even split.
static void assign_owners(MlirModule module, const char *const *names, size_t n_names, int n_parts, int *owner, size_t *weight) {
  MlirBlock body = mlirModuleGetBody(module);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    int kernel = kernel_of(op, names, n_names);
    if (kernel < 0)
      continue;
    MlirRegion region = mlirOperationGetRegion(op, 0);
    for (MlirBlock b = mlirRegionGetFirstBlock(region); !mlirBlockIsNull(b); b = mlirBlockGetNextInRegion(b))
      for (MlirOperation inner = mlirBlockGetFirstOperation(b); !mlirOperationIsNull(inner); inner = mlirOperationGetNextInBlock(inner))
        weight[kernel]++;
  }
  size_t load[64] = {0};
  for (size_t i = 0; i < n_names; i++) {
    int best = 0;
    for (int p = 1; p < n_parts; p++)
      if (load[p] < load[best])
        best = p;
    owner[i] = best;
    load[best] += weight[i] + 20;
  }
}

static tc_status link_parts(part *parts, int n_parts, const char *const *names, size_t n_names, void **out_fns, void **out_code) {
  LLVMOrcLLJITRef jit;
  TC_TRY(llvm_error(LLVMOrcCreateLLJIT(&jit, NULL), "creating the JIT"));
  LLVMOrcJITDylibRef dylib = LLVMOrcLLJITGetMainJITDylib(jit);
  LLVMOrcDefinitionGeneratorRef process;
  tc_status status = llvm_error(
      LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(jit), NULL, NULL), "the JIT's symbol search");
  if (status == TC_OK)
    LLVMOrcJITDylibAddGenerator(dylib, process);
  for (int p = 0; p < n_parts && status == TC_OK; p++) {
    status = llvm_error(LLVMOrcLLJITAddObjectFile(jit, dylib, parts[p].object), "loading a kernel object");
    parts[p].object = NULL; // taken over
  }
  for (size_t i = 0; i < n_names && status == TC_OK; i++) {
    LLVMOrcExecutorAddress address = 0;
    status = llvm_error(LLVMOrcLLJITLookup(jit, &address, names[i]), "looking up a kernel");
    out_fns[i] = (void *)(uintptr_t)address;
  }
  if (status != TC_OK) {
    LLVMErrorRef error = LLVMOrcDisposeLLJIT(jit);
    if (error)
      LLVMConsumeError(error);
    return status;
  }
  *out_code = jit;
  return TC_OK;
}

tc_status tc__jit_create(MlirModule module, const char *cpu, int threads, const char *const *names, size_t n_names, void **out_fns, void **out_code) {
  enum { MAX_PARTS = 64 };
  pthread_once(&targets_once, initialise_targets);
  int n_parts = threads < 1 ? 1 : threads > MAX_PARTS ? MAX_PARTS : threads;
  if ((size_t)n_parts > n_names)
    n_parts = n_names ? (int)n_names : 1;
  part *parts = tc__calloc((size_t)n_parts, sizeof *parts);
  int *owner = tc__calloc(n_names + 1, sizeof *owner);
  size_t *weight = tc__calloc(n_names + 1, sizeof *weight);
  pthread_t workers[MAX_PARTS];
  bool started[MAX_PARTS] = {false};
  tc_status status = parts && owner && weight ? TC_OK : tc__oom();
  if (status == TC_OK)
    assign_owners(module, names, n_names, n_parts, owner, weight);
  // Translation reads the MLIR context, which is not for several threads; the rest has an LLVM context a part.
  for (int p = 0; p < n_parts && status == TC_OK; p++) {
    parts[p].cpu = cpu;
    status = translate_part(module, names, n_names, owner, p, &parts[p]);
  }
  tc__log_phase("translate to LLVM IR");
  if (status == TC_OK) {
    for (int p = 1; p < n_parts; p++)
      started[p] = pthread_create(&workers[p], NULL, compile_part, &parts[p]) == 0;
    for (int p = 0; p < n_parts; p++)
      if (!started[p])
        compile_part(&parts[p]);
    for (int p = 1; p < n_parts; p++)
      if (started[p])
        pthread_join(workers[p], NULL);
    for (int p = 0; p < n_parts && status == TC_OK; p++)
      status = parts[p].status;
  }
  tc__log_phase("optimise and generate code");
  if (status == TC_OK)
    status = link_parts(parts, n_parts, names, n_names, out_fns, out_code);
  for (int p = 0; parts && p < n_parts; p++) {
    if (parts[p].object)
      LLVMDisposeMemoryBuffer(parts[p].object);
    if (parts[p].module)
      LLVMDisposeModule(parts[p].module);
    if (parts[p].ctx)
      LLVMContextDispose(parts[p].ctx);
  }
  tc__free(parts);
  tc__free(owner);
  tc__free(weight);
  return status;
}

void tc__jit_destroy(void *code) {
  if (!code)
    return;
  LLVMErrorRef error = LLVMOrcDisposeLLJIT(code);
  if (error)
    LLVMConsumeError(error);
}
