/* A tool of the runtime that is not the shim. */
#include <stdint.h>
#include <stdio.h>

struct result {
    int (*initialize)(void *lookup, int device, uint64_t *data);
    void (*finalize)(uint64_t *data);
    uint64_t data;
};

static int initialize(void *lookup, int device, uint64_t *data)
{
    (void)lookup, (void)device, (void)data;
    fprintf(stderr, "the other tool: started\n");
    return 1;
}

static void finalize(uint64_t *data)
{
    (void)data;
}

struct result *ompt_start_tool(unsigned version, const char *runtime)
{
    static struct result result = {initialize, finalize, 0};
    (void)version, (void)runtime;
    return &result;
}
