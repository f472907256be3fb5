/* Tasks that end later than their code, and target regions that nobody waits for but the next barrier. */
#include "check.h"

static long word, mapped;
static omp_event_handle_t kept;

int main(int argc, char **argv)
{
    int threads = number(argc, argv, 1, 2), rounds = number(argc, argv, 2, 50);
    long sum = 0;
    omp_set_num_threads(threads);
#pragma omp parallel
    for (int round = 0; round < rounds; round++) {
#pragma omp single
        word = mapped = 0;
#pragma omp single nowait
        {
            omp_event_handle_t event;
#pragma omp task detach(event)
            {
#pragma omp atomic
                word += 1;
            }
            kept = event;
#pragma omp task
            {
#pragma omp atomic
                word += 10;
                omp_fulfill_event(kept);
            }
        }
#pragma omp barrier
        CHECK(word == 11);
#pragma omp barrier
#pragma omp single nowait
        {
#pragma omp target map(tofrom : mapped) nowait
            mapped += 5;
        }
#pragma omp barrier
        CHECK(mapped == 5);
#pragma omp barrier
#pragma omp single
        {
#pragma omp target map(tofrom : mapped)
#pragma omp parallel num_threads(2) reduction(+ : mapped)
            {
#pragma omp barrier
                mapped += 1;
            }
            sum += word;
        }
        /* Of one thread: its level is that of the team outside, of which the other members wait at the end of single. */
#pragma omp single
        {
#pragma omp target
            {
#pragma omp parallel num_threads(1)
                {
#pragma omp barrier
                }
#pragma omp parallel if (0)
                {
#pragma omp barrier
                }
            }
        }
#pragma omp target
        {
#pragma omp parallel num_threads(2)
            {
#pragma omp barrier
            }
        }
#pragma omp barrier
    }
    return finish("deferred", sum);
}
