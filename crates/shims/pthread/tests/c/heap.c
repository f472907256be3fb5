// Threads that allocate and fork: with another allocator preloaded, mutexes are locked inside it.
#include "check.h"

static void *allocates(void *seed) {
    uint32_t random = (uint32_t)(intptr_t)seed;
    void *kept[64] = {0};
    for (int round = 0; round < 30000; round++) {
        random = random * 1664525 + 1013904223;
        int at = random >> 26;
        free(kept[at]);
        kept[at] = malloc(16 + (random >> 8) % 5000);
        CHECK(kept[at] != NULL);
        *(char *)kept[at] = 1;
    }
    for (int i = 0; i < 64; i++) free(kept[i]);
    return NULL;
}

static void allocations(void) {
    pthread_t threads[6];
    for (int i = 0; i < 6; i++) threads[i] = start(allocates, (void *)(intptr_t)(i + 1));
    for (int round = 0; round < 20; round++) {
        pid_t child = fork();
        if (child == 0) {
            alarm(30);
            pthread_t own[2] = {start(allocates, (void *)7), start(allocates, (void *)8)};
            for (int i = 0; i < 2; i++) end(own[i]);
            _exit(0);
        }
        reap(child);
    }
    for (int i = 0; i < 6; i++) end(threads[i]);
}


static const struct test TESTS[] = {
    {"allocations", allocations},
    {NULL, NULL},
};

int main(int argc, char **argv) { return run_tests(TESTS, argc, argv); }
