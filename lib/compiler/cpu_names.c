// Checks processor and feature names before LLVM sees them: a wrong one is a fatal error there, which would end the caller's process.
#include "compile.h"

#include <stdio.h>

typedef struct cpu_name {
  const char *arch, *name;
  int least_ptx;
} cpu_name;

static const cpu_name cpus[] = {
#define CPU(arch, name, least_ptx) {arch, name, least_ptx},
#define FEATURE(arch, name)
#include "cpu_names.inc"
#undef CPU
#undef FEATURE
};

static const cpu_name features[] = {
#define CPU(arch, name, least_ptx)
#define FEATURE(arch, name) {arch, name, 0},
#include "cpu_names.inc"
#undef CPU
#undef FEATURE
};

static const cpu_name *find(const cpu_name *table, size_t count, const char *arch, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (strcmp(table[i].arch, arch) == 0 && strcmp(table[i].name, name) == 0)
      return &table[i];
  return NULL;
}

static tc_status unknown(const cpu_name *table, size_t count, const char *arch, const char *what, const char *name) {
  const char *names[TC_COUNTOF(cpus) + TC_COUNTOF(features)];
  size_t n = 0;
  for (size_t i = 0; i < count; i++)
    if (strcmp(table[i].arch, arch) == 0)
      names[n++] = table[i].name;
  const char *near = tc__did_you_mean(name, names, n);
  return near ? tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "unknown %s '%s' of %s, did you mean '%s'?", what, name, arch, near)
              : tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "unknown %s '%s' of %s", what, name, arch);
}

static bool known_arch(const char *arch) {
  for (size_t i = 0; i < TC_COUNTOF(cpus); i++)
    if (strcmp(cpus[i].arch, arch) == 0)
      return true;
  return false;
}

int tc__cpu_least_ptx(const char *chip) {
  const cpu_name *found = find(cpus, TC_COUNTOF(cpus), "nvptx64", chip);
  return found ? found->least_ptx : 0;
}

tc_status tc__cpu_check(const char *triple, const char *cpu, const char *feature_list) {
  char arch[32];
  snprintf(arch, sizeof arch, "%.*s", (int)strcspn(triple, "-"), triple);
  if (!known_arch(arch))
    return *feature_list ? tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "%s takes no target features, found '%s'", arch, feature_list) : TC_OK;
  const cpu_name *found = find(cpus, TC_COUNTOF(cpus), arch, cpu);
  if (!found)
    return unknown(cpus, TC_COUNTOF(cpus), arch, "processor", cpu);
  int ptx = 0;
  for (const char *at = feature_list; *at;) {
    char name[64];
    size_t n = strcspn(at, ",");
    snprintf(name, sizeof name, "%.*s", (int)n, at);
    if (*name != '+' && *name != '-')
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "target feature '%s': expected '+name' to switch it on or '-name' to switch it off", name);
    if (!find(features, TC_COUNTOF(features), arch, name + 1))
      return unknown(features, TC_COUNTOF(features), arch, "target feature", name + 1);
    if (strncmp(name, "+ptx", 4) == 0)
      ptx = atoi(name + 4);
    at += n + (at[n] == ',');
  }
  if (ptx && ptx < found->least_ptx)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "%s needs PTX %d.%d or newer, found '%s': leave the feature out, or give '+ptx%d'", cpu,
                     found->least_ptx / 10, found->least_ptx % 10, feature_list, found->least_ptx);
  return TC_OK;
}
