/* One member creates all tasks, and the others run them at the barrier. Prints how many the members without the producer ran. */
#include "check.h"

int main(int argc, char **argv)
{
    int threads = number(argc, argv, 1, 2), tasks = number(argc, argv, 2, 10000);
    static long of[64][16];
    int producer = 0;
    omp_set_num_threads(threads);
#pragma omp parallel
    {
#pragma omp single
        {
            producer = omp_get_thread_num();
            for (int i = 0; i < tasks; i++) {
#pragma omp task
                {
                    for (volatile int work = 0; work < 2000; work++)
                        ;
                    of[omp_get_thread_num()][0]++;
                }
            }
        }
    }
    long sum = 0;
    for (int i = 0; i < threads; i++)
        sum += of[i][0];
    CHECK(sum == tasks);
    fprintf(stderr, "others %ld\n", sum - of[producer][0]);
    return finish("producer", sum);
}
