/* The parts that all programs share: each prints what it has computed, which must not depend on the shim. */
#ifndef CHECK_H
#define CHECK_H

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static long errors;

#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) {                                                        \
            if (__atomic_add_fetch(&errors, 1, __ATOMIC_RELAXED) < 5)              \
                fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);    \
        }                                                                          \
    } while (0)

static int finish(const char *name, long sum)
{
    printf("%s: sum %ld, errors %ld\n", name, sum, errors);
    return errors != 0;
}

static int number(int argc, char **argv, int at, int otherwise)
{
    return argc > at ? atoi(argv[at]) : otherwise;
}

#endif
