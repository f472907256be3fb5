/* Constructs that one member executes: each exactly once, whether or not the others wait. */
#include "check.h"

enum { CONSTRUCTS = 64 };

static long taken[CONSTRUCTS + 1];

/* Orphaned: in the region of its caller. */
static void one(int place)
{
#pragma omp single nowait
    {
#pragma omp atomic
        taken[place]++;
    }
}

static void region(int threads, int round)
{
#pragma omp parallel num_threads(threads)
    {
        for (int place = 0; place < CONSTRUCTS; place++) {
            one(place);
            if (place % 16 == round % 16) {
#pragma omp single
                {
#pragma omp atomic
                    taken[CONSTRUCTS]++;
                }
            }
        }
        /* A region of one thread in it, whose constructs are its own. */
        if (round % 8 == 0) {
            long mine = 0;
#pragma omp parallel num_threads(1)
#pragma omp single
            mine++;
            CHECK(mine == 1);
        }
    }
}

int main(int argc, char **argv)
{
    int threads = number(argc, argv, 1, 2), rounds = number(argc, argv, 2, 500);
    long sum = 0;
    for (int round = 0; round < rounds; round++)
        region(1 + round % threads, round);
    for (int place = 0; place < CONSTRUCTS; place++) {
        CHECK(taken[place] == rounds);
        sum += taken[place];
    }
    CHECK(taken[CONSTRUCTS] == 4L * rounds);
    /* Within regions of several masters. */
    long outer = 0;
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2) reduction(+ : outer)
    for (int round = 0; round < 50; round++) {
        long inner = 0;
#pragma omp parallel num_threads(threads) shared(inner)
        for (int i = 0; i < 5; i++) {
#pragma omp single nowait
            {
#pragma omp atomic
                inner++;
            }
        }
        CHECK(inner == 5);
        outer += inner;
    }
    CHECK(outer == 2 * 50 * 5);
    return finish("singles", sum + outer);
}
