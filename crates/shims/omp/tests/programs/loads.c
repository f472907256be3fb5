/* Opens libraries with runtimes of their own, runs regions of each, and keeps them or closes each before the next. Runtimes stay:
   their threads would go on where nothing is. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *opened(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
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
    int threads = atoi(argv[1]), closes = strcmp(argv[2], "close") == 0;
    opened("libgomp.so.1");
    opened("libgomq.so.1");
    long sum = 0;
    for (int round = 0; round < 3; round++) {
        for (int i = 3; i < argc; i++) {
            void *library = opened(argv[i]);
            sum += ((long (*)(int, int, void (*)(void)))dlsym(library, "plugin"))(threads, 5, NULL);
            if (closes && dlclose(library))
                return 3;
        }
    }
    printf("loads: sum %ld, errors 0\n", sum);
    return 0;
}
