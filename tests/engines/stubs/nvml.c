/* The calls of libnvidia-ml.so.1 that we use: GPU-0 answers, GPU-1 has fallen off the bus, others were never there. */
#include <string.h>

typedef struct { unsigned int gpu, memory; } utilization;
typedef struct { unsigned long long total, free, used; } memory;

static int started;
static int device;

int nvmlInitWithFlags(unsigned int flags) { started = 1; return flags; }
int nvmlShutdown(void) { started = 0; return 0; }

const char *nvmlErrorString(int code) { return code == 15 ? "GPU is lost" : code == 6 ? "Not Found" : "Uninitialized"; }

int nvmlSystemGetDriverVersion(char *version, unsigned int length) {
    if (!started) return 1;
    strncpy(version, "550.54.15", length);
    return 0;
}
int nvmlDeviceGetHandleByUUID(const char *uuid, void **handle) {
    if (!started) return 1;
    if (strcmp(uuid, "GPU-0") == 0) { *handle = &device; return 0; }
    return strcmp(uuid, "GPU-1") == 0 ? 15 : 6;
}
int nvmlDeviceGetUtilizationRates(void *handle, utilization *found) {
    if (handle != &device) return 2;
    found->gpu = 73; found->memory = 11;
    return 0;
}
int nvmlDeviceGetMemoryInfo(void *handle, memory *found) {
    if (handle != &device) return 2;
    found->total = 85899345920ULL; found->used = 5368709120ULL; found->free = found->total - found->used;
    return 0;
}
int nvmlDeviceGetTemperature(void *handle, int sensor, unsigned int *celsius) {
    if (handle != &device || sensor != 0) return 2;
    *celsius = 61;
    return 0;
}
