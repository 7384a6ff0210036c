// tc-translate: IR to code, models to IR.
#include "tc/tools.h"

int main(int argc, char **argv) { return tc_translate_main(argc, argv); }
