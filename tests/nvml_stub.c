/* Two GPUs that answer as NVIDIA's library does, as far as Paddock asks. What they say comes from the environment:
 * STUB_PID is the process on GPU 0, STUB_LOG gets a line for each question of a device's memory, STUB_OLD makes the
 * driver one that does not know utilisation by process, STUB_BROKEN one that fails at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUCCESS 0
#define NOT_SUPPORTED 3
#define NOT_FOUND 6
#define INSUFFICIENT_SIZE 7
#define UNKNOWN 999

typedef struct { int number; } *Device;
typedef struct { unsigned long long total, free, used; } Memory;
typedef struct { unsigned int gpu, memory; } Rates;
typedef struct { unsigned int pid; unsigned long long used; unsigned int gpu_instance, compute_instance; } Process;
typedef struct { unsigned int pid; unsigned long long time; unsigned int sm, mem, enc, dec; } Sample;

static struct { int number; } devices[2] = {{0}, {1}};
static unsigned int pid(void) { const char *text = getenv("STUB_PID"); return text ? (unsigned int)atoi(text) : 0; }

int nvmlInitWithFlags(unsigned int flags) { return getenv("STUB_BROKEN") ? UNKNOWN : SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }
const char *nvmlErrorString(int code) { return "stub"; }
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = 2; return SUCCESS; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, Device *device) { *device = (Device)&devices[index]; return SUCCESS; }
int nvmlDeviceGetName(Device device, char *name, unsigned int length) { snprintf(name, length, "Stub %d", device->number); return SUCCESS; }
int nvmlDeviceGetUUID(Device device, char *uuid, unsigned int length) { snprintf(uuid, length, "GPU-%d", device->number); return SUCCESS; }

int nvmlDeviceGetMemoryInfo(Device device, Memory *memory) {
    const char *log = getenv("STUB_LOG");
    if (log) { FILE *file = fopen(log, "a"); fprintf(file, "%d\n", device->number); fclose(file); }
    memory->total = 80ULL << 30; memory->used = (device->number + 1ULL) << 30; memory->free = memory->total - memory->used;
    return SUCCESS;
}

int nvmlDeviceGetUtilizationRates(Device device, Rates *rates) { rates->gpu = 70 + device->number; rates->memory = 1; return SUCCESS; }

int nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned int *count, Process *found) {
    if (device->number == 1 || !pid()) { *count = 0; return SUCCESS; }
    if (*count < 1) { *count = 1; return INSUFFICIENT_SIZE; }
    *count = 1; memset(found, 0, sizeof *found); found->pid = pid(); found->used = 512ULL << 20;
    return SUCCESS;
}

int nvmlDeviceGetGraphicsRunningProcesses_v3(Device device, unsigned int *count, Process *found) { *count = 0; return SUCCESS; }

int nvmlDeviceGetProcessUtilization(Device device, Sample *found, unsigned int *count, unsigned long long since) {
    if (getenv("STUB_OLD")) return NOT_SUPPORTED;
    if (device->number == 1 || !pid()) return NOT_FOUND;
    if (*count < 2 || !found) { *count = 2; return INSUFFICIENT_SIZE; }
    memset(found, 0, 2 * sizeof *found);
    for (int i = 0; i < 2; i++) { found[i].pid = pid(); found[i].time = 1000 + i; found[i].sm = 40 + 20 * i; }
    *count = 2;
    return SUCCESS;
}
