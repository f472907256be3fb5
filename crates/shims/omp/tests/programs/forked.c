/* Processes that are forked in serial parts, before and after the first region. */
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

static long region(int threads)
{
    long sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    {
        for (int i = 0; i < 20; i++) {
#pragma omp barrier
            sum += i;
        }
#pragma omp task
        CHECK(omp_get_level() == 1);
#pragma omp barrier
    }
    return sum;
}

static int child(int threads, long expected)
{
    pid_t pid = fork();
    if (pid == 0)
        _exit(region(threads) == expected ? 0 : 1);
    int status = -1;
    waitpid(pid, &status, 0);
    return status;
}

int main(int argc, char **argv)
{
    int threads = number(argc, argv, 1, 2);
    CHECK(child(threads, 190L * threads) == 0);
    long sum = region(threads);
    CHECK(sum == 190L * threads);
    /* The threads of the first region are not in the child: libgomp's child can have teams of one. */
    CHECK(child(1, 190) == 0);
    if (argc < 3) {
        pid_t pid = fork();
        if (pid == 0) {
            /* A program of its own, with the same objects preloaded. */
            execl("/proc/self/exe", argv[0], argv[1], "child", (char *)NULL);
            _exit(1);
        }
        int status = -1;
        waitpid(pid, &status, 0);
        CHECK(status == 0);
    }
    sum += region(threads);
    return finish("forked", sum);
}
