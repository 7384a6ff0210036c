//===- tc/tools.h - the command-line tools as functions ---------------------------------------------------------------===//
//
// Part of tc. Licensed under the Apache License v2.0 with LLVM Exceptions. See LICENSE.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------------------------------------------===//
#ifndef TC_TOOLS_H
#define TC_TOOLS_H

#include "tc/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The tools' drivers: they read argv, print, and return an exit status (0, or 1 after an error). They set the diagnostic handler.
TC_API int tc_opt_main(int argc, char **argv);
TC_API int tc_translate_main(int argc, char **argv);
TC_API int tc_run_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif
#endif // TC_TOOLS_H
