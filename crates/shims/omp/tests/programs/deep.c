/* Regions within regions, eight and more deep, of which the innermost have teams of two. One member alone opens the deepest: behind
 * it the two have to meet again. */
#include "check.h"

static long sum;

static void deepest(int rounds)
{
    for (int round = 0; round < rounds; round++) {
#pragma omp barrier
        if (omp_get_thread_num() == 0) {
#pragma omp parallel num_threads(2)
            {
#pragma omp barrier
#pragma omp atomic
                sum++;
            }
        }
#pragma omp barrier
    }
}

static void go(int levels, int rounds)
{
#pragma omp parallel num_threads(levels == 1 ? 2 : 1)
    {
        if (levels > 1)
            go(levels - 1, rounds);
        else
            deepest(rounds);
    }
}

int main(int argc, char **argv)
{
    int levels = number(argc, argv, 1, 12), rounds = number(argc, argv, 2, 5);
    omp_set_max_active_levels(64);
    for (int level = 1; level <= levels; level++)
        go(level, rounds);
    return finish("deep", sum);
}
