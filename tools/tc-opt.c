// tc-opt: run passes on MLIR.
#include "tc/tools.h"

int main(int argc, char **argv) { return tc_opt_main(argc, argv); }
