/* Opens two libraries with runtimes of their own, and runs regions of each inside regions of the other. Built with OpenMP, it has
   a third user of a runtime itself. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef long plugin_function(int, int, void (*)(void));

static plugin_function *first, *second;
static void (*foreign)(void);

static void inside_first(void)
{
    if (second(2, 2, NULL) < 0)
        abort();
    foreign();
}

static void *load(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return library;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int threads = atoi(argv[1]);
    void *one = load(argv[2]), *two = load(argv[3]);
    first = (plugin_function *)dlsym(one, "plugin");
    second = (plugin_function *)dlsym(two, "plugin");
    foreign = (void (*)(void))dlsym(two, "orphaned");
    long sum = 0;
#ifdef _OPENMP
#pragma omp parallel num_threads(threads) reduction(+ : sum)
    for (int i = 0; i < 20; i++) {
#pragma omp barrier
        sum += i;
    }
#endif
    for (int i = 0; i < 5; i++) {
        sum += first(threads, 10, NULL);
        sum += second(threads, 10, NULL);
        sum += first(threads, 3, inside_first);
    }
    printf("host: sum %ld, errors 0\n", sum);
    return 0;
}
