//===- tc/tc.h - the whole public interface ---------------------------------------------------------------------------===//
//
// Part of tc. Licensed under the Apache License v2.0 with LLVM Exceptions. See LICENSE.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ownership. `create`, `load`, `compile` and `run` give the caller an owned object, freed with the matching `release`. Functions named after
// what they read (tc_tensor_shape, tc_model_explain) lend: what they return lives as long as the object. Ops (tc_cos, tc_add, ...) return
// tensors that belong to the innermost scope (tc/tensor.h); retain one to keep it.
//
// Errors. Functions return a tc_status, or NULL where they return a tensor; tc_last_error() has the text. An op given NULL returns NULL, so an
// expression needs one check at its end. Nothing here prints or exits.
//
//===------------------------------------------------------------------------------------------------------------------===//
#ifndef TC_TC_H
#define TC_TC_H

#include "tc/base.h"
#include "tc/compile.h"
#include "tc/ops.h"
#include "tc/tensor.h"

#define TC_VERSION "0.1.0"

#endif // TC_TC_H
