/* A library that is opened by a program, with the OpenMP runtime that it was linked to. */
#include <omp.h>

long plugin(int threads, int rounds, void (*inside)(void))
{
    long sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < rounds; i++) {
        static long word;
#pragma omp barrier
#pragma omp single
        word = i;
        sum += word;
#pragma omp for schedule(dynamic)
        for (int k = 0; k < 8; k++)
            sum += k;
        if (inside)
            inside();
#pragma omp single
        {
#pragma omp task shared(sum)
            {
#pragma omp atomic
                sum += 0;
            }
        }
    }
    return sum;
}

/* No barrier if the caller's team is of another runtime. */
void orphaned(void)
{
#pragma omp barrier
}
