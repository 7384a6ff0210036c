#include <stdio.h>
#include <tc/base.h>

int main(void) {
  printf("%s, %zu\n", tc_status_name(TC_ERR_PARSE), tc_dtype_size(TC_BF16));
  return 0;
}
