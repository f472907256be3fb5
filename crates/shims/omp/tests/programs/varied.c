/* Orphaned constructs, and teams whose size changes or is less than was asked for. Its sums do not depend on the sizes. */
#include "check.h"

static long shared_word;

static void orphaned(void)
{
#pragma omp barrier
#pragma omp single
    shared_word++;
#pragma omp for schedule(dynamic)
    for (int i = 0; i < 10; i++) {
#pragma omp atomic
        shared_word++;
    }
#pragma omp sections
    {
#pragma omp section
#pragma omp atomic
        shared_word++;
#pragma omp section
#pragma omp atomic
        shared_word++;
    }
    long value = 0;
#pragma omp single copyprivate(value)
    value = 7;
    CHECK(value == 7);
#pragma omp barrier
}

/* Inner teams that are now of several members and now of one, as many as the levels allow. */
static void levels(int rounds)
{
    static long stamps[2][2][16];
    for (int round = 0; round < rounds; round++) {
        omp_set_max_active_levels(1 + (round + 1) % 2);
#pragma omp parallel num_threads(2)
        {
            int outer = omp_get_thread_num();
#pragma omp parallel num_threads(2)
            {
                int me = omp_get_thread_num(), all = omp_get_num_threads();
                for (long i = 1; i <= 10; i++) {
                    stamps[outer][me][0] = i;
#pragma omp barrier
                    for (int other = 0; other < all; other++)
                        CHECK(stamps[outer][other][0] == i);
#pragma omp barrier
                }
            }
        }
    }
}

int main(int argc, char **argv)
{
    int most = number(argc, argv, 1, 4), rounds = number(argc, argv, 2, 30);
    orphaned();
    long sum = shared_word;
    CHECK(sum == 13);
    for (int round = 0; round < rounds; round++) {
        int wanted = 1 + round % most;
        shared_word = 0;
#pragma omp parallel num_threads(wanted)
        {
            CHECK(omp_get_num_threads() <= wanted);
            for (int i = 0; i < 3; i++)
                orphaned();
        }
        CHECK(shared_word == 39);
        sum += shared_word;
        /* A region that is serial. */
        shared_word = 0;
#pragma omp parallel if (round % 2) num_threads(wanted)
        orphaned();
        CHECK(shared_word == 13);
        sum += shared_word;
        if (round % 10 == 9) {
            /* Many more members than before, and fewer again. */
            shared_word = 0;
#pragma omp parallel num_threads(12 + round)
            orphaned();
            CHECK(shared_word == 13);
            sum += shared_word;
        }
        omp_set_num_threads(1 + (round * 7) % most);
        shared_word = 0;
#pragma omp parallel
        orphaned();
        CHECK(shared_word == 13);
        sum += shared_word;
    }
    if (most > 1)
        levels(rounds);
    return finish("varied", sum);
}
