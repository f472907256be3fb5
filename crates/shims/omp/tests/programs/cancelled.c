/* Regions, loops, sections and task groups that are cancelled if the environment allows it. */
#include "check.h"

int main(int argc, char **argv)
{
    int threads = number(argc, argv, 1, 2), rounds = number(argc, argv, 2, 50);
    long sum = 0;
    omp_set_num_threads(threads);
    for (int round = 0; round < rounds; round++) {
        int after = 0;
#pragma omp parallel
        {
#pragma omp barrier
#pragma omp for schedule(dynamic)
            for (int i = 0; i < 100; i++) {
                if (i == 50) {
#pragma omp cancel for
                }
#pragma omp cancellation point for
            }
#pragma omp barrier
#pragma omp single
            {
#pragma omp taskgroup
                {
                    for (int i = 0; i < 10; i++) {
#pragma omp task
                        {
#pragma omp cancel taskgroup if (i == 3)
                        }
                    }
                }
            }
#pragma omp sections
            {
#pragma omp section
                {
#pragma omp cancel sections
                }
#pragma omp section
                {
#pragma omp cancellation point sections
                }
            }
#pragma omp barrier
            if (omp_get_thread_num() == round % omp_get_num_threads()) {
#pragma omp cancel parallel
            }
#pragma omp barrier
#pragma omp atomic
            after++;
        }
        CHECK(omp_get_cancellation() ? after < threads || threads == 1 : after == threads);
        /* A region that is never cancelled. */
        int plain = 0;
#pragma omp parallel
        {
#pragma omp barrier
#pragma omp atomic
            plain++;
#pragma omp barrier
            CHECK(plain == threads);
        }
        sum += plain;
    }
    return finish("cancelled", sum);
}
