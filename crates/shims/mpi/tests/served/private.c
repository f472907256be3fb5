/* Opens a library privately, as Python does with modules, and calls the Fortran subroutine run_served of it. Its name is the first
 * argument's. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*run)(void) = library ? (void (*)(void))dlsym(library, "run_served_") : NULL;
    if (!run) return fprintf(stderr, "%s\n", dlerror()), 1;
    run();
    return 0;
}
