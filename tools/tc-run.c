// tc-run: run, check, explain and time a saved model.
#include "tc/tools.h"

int main(int argc, char **argv) { return tc_run_main(argc, argv); }
