/* Values that one member reads and all have. */
#include "check.h"

int main(int argc, char **argv)
{
    int threads = number(argc, argv, 1, 2), rounds = number(argc, argv, 2, 10000);
    long sum = 0;
    omp_set_num_threads(threads);
#pragma omp parallel reduction(+ : sum)
    for (int round = 0; round < rounds; round++) {
        long value = -1;
        int twice = 0;
        double half = 0;
#pragma omp single copyprivate(value, twice, half)
        {
            value = round;
            twice = 2 * round;
            half = round / 2.0;
            if (round % 100 == 0) {
#pragma omp task
                sum += 0;
            }
        }
        CHECK(value == round && twice == 2 * round && half == round / 2.0);
        sum += value;
    }
    return finish("copyprivate", sum);
}
