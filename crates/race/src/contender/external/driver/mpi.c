/* MPI's barrier, broadcast and reductions, and what is put together of them, among processes. DETAIL is a file that all of them map. */
#define EXCHANGES
#include "driver.h"

#include <fcntl.h>
#include <limits.h>
#include <mpi.h>

#if defined(WANT_OPEN_MPI) && !defined(OPEN_MPI)
#error "this mpicc is not Open MPI's"
#elif defined(WANT_MPICH) && (!defined(MPICH_VERSION) || defined(I_MPI_VERSION))
#error "this mpicc is not MPICH's"
#elif defined(WANT_INTEL_MPI) && !defined(I_MPI_VERSION)
#error "this mpicc is not Intel MPI's"
#endif

static bool performs(enum op op, uint64_t bytes)
{
    return bytes <= INT_MAX && (op == BARRIER || op == BROADCAST || bytes % sizeof(uint64_t) == 0);
}

static void barrier(struct member *me)
{
    (void)me;
    MPI_Barrier(MPI_COMM_WORLD);
}

static void broadcast(struct member *me, uint64_t *value, uint64_t bytes)
{
    MPI_Bcast(value, (int)bytes, MPI_BYTE, me->arguments->root, MPI_COMM_WORLD);
}

static void reduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    MPI_Reduce(value, result, (int)words, MPI_UINT64_T, MPI_SUM, me->arguments->root, MPI_COMM_WORLD);
}

static void allreduce(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    (void)me;
    MPI_Allreduce(value, result, (int)words, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

static void gather(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    MPI_Gather(value, (int)words, MPI_UINT64_T, result, (int)words, MPI_UINT64_T, me->arguments->root, MPI_COMM_WORLD);
}

static void scatter(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    MPI_Scatter(value, (int)words, MPI_UINT64_T, result, (int)words, MPI_UINT64_T, me->arguments->root, MPI_COMM_WORLD);
}

/* All learn the decision from the votes, so that the root need not send it. */
static bool commit(struct member *me, uint64_t *value, uint64_t words, bool is_for)
{
    int vote = is_for, all = 0;
    MPI_Bcast(value, (int)words, MPI_UINT64_T, me->arguments->root, MPI_COMM_WORLD);
    MPI_Allreduce(&vote, &all, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    return all != 0;
}

/* As each member has an event in each round, the order of the ranks is one that all know. */
static void atomic_stream(struct member *me, const uint64_t *value, uint64_t *result, uint64_t words)
{
    (void)me;
    MPI_Allgather(value, (int)words, MPI_UINT64_T, result, (int)words, MPI_UINT64_T, MPI_COMM_WORLD);
}

/* All processes make the file equally long; what was not written is zero. */
static struct shared *shared_by_processes(const char *path, int members)
{
    int file = open(path, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, (off_t)shared_bytes(members)) != 0)
        fail("the file to share cannot be made");
    void *memory = mmap(NULL, shared_bytes(members), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (memory == MAP_FAILED)
        fail("the file to share cannot be mapped");
    close(file);
    return memory;
}

int main(int argc, char **argv)
{
    int rank, members;
    /* If the launcher is killed its processes shall not stay. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    MPI_Init(&argc, &argv);
    struct arguments arguments = read_arguments(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &members);
    if (members != arguments.members)
        fail("the launcher started another number of processes: is it another MPI's?");
    serve(&arguments, shared_by_processes(arguments.detail, members), rank);
    MPI_Finalize();
    return 0;
}
