/* The entries that compilers before GCC 4.9 call: the master calls the body itself. */
#include "check.h"

#include <stdbool.h>

void GOMP_barrier(void);
void GOMP_parallel_start(void (*body)(void *), void *data, unsigned threads);
void GOMP_parallel_loop_dynamic_start(void (*body)(void *), void *data, unsigned threads, long start, long end, long step,
                                      long chunk);
void GOMP_parallel_end(void);
bool GOMP_loop_dynamic_next(long *start, long *end);
void GOMP_loop_end_nowait(void);

static long words[64][16];
static long sum;

static void body(void *data)
{
    long rounds = *(long *)data;
    int me = omp_get_thread_num(), all = omp_get_num_threads();
    for (long round = 1; round <= rounds; round++) {
        words[me][0] = round;
        GOMP_barrier();
        for (int other = 0; other < all; other++)
            CHECK(words[other][0] == round);
        GOMP_barrier();
    }
}

static void loop(void *data)
{
    long start, end;
    while (GOMP_loop_dynamic_next(&start, &end))
        __atomic_add_fetch(&sum, start + *(long *)data, __ATOMIC_RELAXED);
    GOMP_loop_end_nowait();
}

static void old(unsigned threads, long rounds)
{
    GOMP_parallel_start(body, &rounds, threads);
    body(&rounds);
    GOMP_parallel_end();
    GOMP_parallel_loop_dynamic_start(loop, &rounds, threads, 0, 100, 1, 3);
    loop(&rounds);
    GOMP_parallel_end();
}

int main(int argc, char **argv)
{
    int threads = number(argc, argv, 1, 2);
    omp_set_max_active_levels(2);
    for (int i = 0; i < 10; i++)
        old(threads, 20);
    /* Old teams inside new ones, and a target region between them, whose level is that of no region. */
#pragma omp parallel num_threads(2)
    {
        for (int i = 0; i < 5; i++) {
#pragma omp barrier
#pragma omp critical
            old(threads, 5);
#pragma omp barrier
#pragma omp critical
            {
#pragma omp target
                old(threads, 5);
            }
#pragma omp barrier
        }
    }
    return finish("legacy", sum);
}
