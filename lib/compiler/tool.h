// What the tools share: reading input, options, and printing or verifying diagnostics.
#ifndef TC_LIB_COMPILER_TOOL_H
#define TC_LIB_COMPILER_TOOL_H

#include "pass.h"

/// Prints each diagnostic as "file:line:col: error: text", then the source line with a caret where the file can be read (`source` is the text
/// of `source_name`, may be NULL).
typedef struct tc__tool_diagnostics {
  const char *tool, *source_name, *source;
} tc__tool_diagnostics;
void tc__tool_print_diagnostic(tc_severity severity, const char *location, const char *message, void *diagnostics);

/// "--name" or "--name=value" of a tool's table; "-x VALUE" and "--name VALUE" work where a value is needed.
typedef struct tc__tool_option {
  const char *name; ///< with its dashes
  int id;
  enum { TC__TOOL_FLAG, TC__TOOL_VALUE, TC__TOOL_OPTIONAL_VALUE } kind;
  const char *help; ///< NULL = not listed
} tc__tool_option;

/// Finds arg in the table. Returns its id and the value (NULL when none), -1 after printing an error (a value is missing or not wanted), -2 when
/// it is not in the table. May move *index to take the next argument as the value.
int tc__tool_option_match(const char *tool, const tc__tool_option *table, size_t count, int argc, char **argv, int *index, const char **out_value);
/// Prints "unknown option ..., did you mean ..." against the table and, if with_passes, every pass and pipeline.
void tc__tool_unknown_option(const char *tool, const char *arg, const tc__tool_option *table, size_t count, bool with_passes);
void tc__tool_print_options(const tc__tool_option *table, size_t count);

/// Splits text at lines that start with "// -----". Calls fn for each part with the number of lines before it. Stops at a status other than TC_OK only
/// when keep_going is false; returns the first such status.
typedef tc_status (*tc__tool_part_fn)(const char *text, size_t size, int first_line, void *user);
tc_status tc__tool_split(const char *text, bool split, tc__tool_part_fn fn, void *user);

/// --verify-diagnostics: expected-{error,warning,note,remark} comments of upstream's form.
typedef struct tc__expectations tc__expectations;
tc__expectations *tc__expectations_create(const char *text, int first_line, const char *file);
/// A diagnostic handler whose user data is the expectations.
void tc__expectations_handler(tc_severity severity, const char *location, const char *message, void *expectations);
/// Prints what was unexpected or missing; true when there was nothing of it. Frees.
bool tc__expectations_finish(tc__expectations *e);

#endif // TC_LIB_COMPILER_TOOL_H
