// Compile-time phases for TC_LOGS=timing.
#ifndef TC_LIB_COMPILER_LOG_H
#define TC_LIB_COMPILER_LOG_H

/// Reports (as a remark, when TC_LOGS names "timing") the time since the last call on this thread under `name`; NULL only restarts the clock.
void tc__log_phase(const char *name);

#endif // TC_LIB_COMPILER_LOG_H
