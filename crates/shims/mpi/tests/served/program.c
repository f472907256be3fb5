/* The test program of the MPI preload object: each case is a subcommand, so that every case has processes of its own. A case prints
 * "ok" at rank 0 and returns 0, or says what went wrong and ends with another status. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

#define CHECK(condition)                                                                                            \
    do {                                                                                                            \
        if (!(condition)) {                                                                                         \
            fprintf(stderr, "rank %d, line %d: %s\n", rank, __LINE__, #condition);                                  \
            exit(3);                                                                                                \
        }                                                                                                           \
    } while (0)

static uint64_t state;

/* xorshift, the same at all ranks. */
static uint64_t draw(uint64_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* Every rank writes its round before a barrier and reads those of all behind it, through memory that they share. */
static void counters(void) {
    MPI_Win window;
    int *mine, *all[64];
    CHECK(size <= 64);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window);
    for (int i = 0; i < size; i++) {
        MPI_Aint bytes;
        int unit;
        MPI_Win_shared_query(window, i, &bytes, &unit, &all[i]);
    }
    *mine = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 1; round <= 3000; round++) {
        __atomic_store_n(mine, round, __ATOMIC_RELAXED);
        switch (draw(3)) {
        case 0: MPI_Barrier(MPI_COMM_WORLD); break;
        case 1: {
            int sum = -1, one = 1;
            MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
            CHECK(sum == size);
            break;
        }
        default: {
            double values[200];
            for (int i = 0; i < 200; i++) values[i] = rank + i;
            MPI_Allreduce(MPI_IN_PLACE, values, 200, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            for (int i = 0; i < 200; i++) CHECK(values[i] == size - 1 + i);
        }
        }
        for (int i = 0; i < size; i++) {
            int seen = __atomic_load_n(all[i], __ATOMIC_RELAXED);
            CHECK(seen == round || seen == round + 1);
        }
    }
    MPI_Win_free(&window);
}

/* Rank 0 has a long message on its way when it waits: nobody but its own MPI calls pushes that on. */
static void progress(void) {
    const int len = 1 << 20;
    char *data = calloc(len, 1);
    for (int round = 0; round < 30; round++) {
        MPI_Request request;
        if (rank == 0) {
            memset(data, round, len);
            MPI_Isend(data, len, MPI_CHAR, size - 1, round, MPI_COMM_WORLD, &request);
            MPI_Barrier(MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
        } else if (rank == size - 1) {
            MPI_Recv(data, len, MPI_CHAR, 0, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(data[0] == round && data[len - 1] == round);
            MPI_Barrier(MPI_COMM_WORLD);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
        }
    }
    free(data);
}

/* Rank 1 takes every second element, the others a plain array: one signature. */
static void derived(void) {
    MPI_Datatype every_second;
    MPI_Type_vector(600, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int round = 0; round < 200; round++) {
        int root = round % size, plain[600], gappy[1200];
        for (int i = 0; i < 1200; i++) gappy[i] = rank == root && i % 2 == 0 ? round * 1000 + i / 2 : -7;
        for (int i = 0; i < 600; i++) plain[i] = rank == root ? round * 1000 + i : -1;
        if (rank == 1)
            MPI_Bcast(gappy, 1, every_second, root, MPI_COMM_WORLD);
        else
            MPI_Bcast(plain, 600, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; i < 600; i++) CHECK((rank == 1 ? gappy[2 * i] : plain[i]) == round * 1000 + i);
        for (int i = 1; i < 1200; i += 2) CHECK(gappy[i] == -7);
    }
    MPI_Type_free(&every_second);
    struct { double value; int place; } pair, best;
    for (int round = 0; round < 100; round++) {
        pair.value = (rank * 7 + round) % size, pair.place = rank;
        MPI_Allreduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
        CHECK(best.value == size - 1 || size % 7 == 0);
        CHECK((best.place * 7 + round) % size == (int)best.value);
        pair.value = rank == round % size ? -1 : 1;
        MPI_Reduce(&pair, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, round % size, MPI_COMM_WORLD);
        if (rank == round % size) CHECK(best.value == -1 && best.place == rank);
        MPI_Bcast(&pair, 1, MPI_DOUBLE_INT, round % size, MPI_COMM_WORLD);
        CHECK(pair.value == -1 && pair.place == round % size);
    }
}

/* Every length around the borders of sizes, every root, in place and not, and no elements at all. */
static void lengths(void) {
    int lens[] = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 59, 60, 61, 62, 63, 64, 127, 500, 1024, 1025, 4000};
    double *from = malloc(5000 * sizeof *from), *into = malloc(5000 * sizeof *into);
    for (unsigned k = 0; k < sizeof lens / sizeof *lens; k++) {
        for (int root = 0; root < size; root++) {
            int len = lens[k];
            double total = size * (size - 1) / 2.0;
            for (int i = 0; i <= len; i++) from[i] = rank + i, into[i] = -1;
            MPI_Reduce(from, into, len, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
            for (int i = 0; i < len; i++) CHECK(into[i] == (rank == root ? total + (double)i * size : -1));
            CHECK(into[len] == -1);
            for (int i = 0; i <= len; i++) from[i] = rank * 3 + i;
            MPI_Allreduce(from, into, len, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
            for (int i = 0; i < len; i++) CHECK(into[i] == i);
            CHECK(into[len] == -1);
            for (int i = 0; i <= len; i++) from[i] = rank == root ? i * 0.5 : -3;
            MPI_Bcast(from, len, MPI_DOUBLE, root, MPI_COMM_WORLD);
            for (int i = 0; i < len; i++) CHECK(from[i] == i * 0.5);
            CHECK(from[len] == (rank == root ? len * 0.5 : -3));
            /* MPICH 4.0.2 itself crashes in longer reductions in place, from 2 KiB on. */
            if (len > 128) continue;
            for (int i = 0; i <= len; i++) from[i] = rank + i;
            if (rank == root)
                MPI_Reduce(MPI_IN_PLACE, from, len, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
            else
                MPI_Reduce(from, NULL, len, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
            for (int i = 0; i < len; i++) CHECK(from[i] == (rank == root ? total + (double)i * size : rank + i));
        }
    }
    int8_t bytes[1000], combined[1000];
    for (int len = 1; len < 1000; len += 37) {
        for (int i = 0; i < len; i++) bytes[i] = 1 << rank % 7;
        MPI_Allreduce(bytes, combined, len, MPI_INT8_T, MPI_BOR, MPI_COMM_WORLD);
        for (int i = 0; i < len; i++) CHECK(combined[i] == (1 << (size > 7 ? 7 : size)) - 1);
    }
    long double exact[100], product[100];
    for (int i = 0; i < 100; i++) exact[i] = rank + 1;
    MPI_Allreduce(exact, product, 100, MPI_LONG_DOUBLE, MPI_PROD, MPI_COMM_WORLD);
    long double factorial = 1;
    for (int i = 1; i <= size; i++) factorial *= i;
    for (int i = 0; i < 100; i++) CHECK(product[i] == factorial);
    free(from), free(into);
}

/* Parts of every length, in place and not; types with gaps where others have plain ones, at either end. */
static void gathered(void) {
    int lens[] = {0, 1, 2, 3, 7, 8, 62, 63, 64, 127, 500, 1024, 1025, 4000};
    double *from = malloc(5000 * sizeof *from), *into = malloc((size * 5000 + 1) * sizeof *into);
    for (unsigned k = 0; k < sizeof lens / sizeof *lens; k++) {
        for (int way = 0; way < 4; way++) {
            int len = lens[k], all = size * len;
            for (int i = 0; i < len; i++) from[i] = rank * 10000 + i + way;
            for (int i = 0; i <= all; i++) into[i] = -1;
            if (way % 2) {
                memcpy(into + rank * len, from, len * sizeof *from);
                MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, into, len, MPI_DOUBLE, MPI_COMM_WORLD);
            } else {
                MPI_Allgather(from, len, MPI_DOUBLE, into, len, MPI_DOUBLE, MPI_COMM_WORLD);
            }
            for (int i = 0; i < all; i++) CHECK(into[i] == i / len * 10000 + i % len + way);
            CHECK(into[all] == -1);
        }
    }
    free(from), free(into);
    MPI_Datatype every_second, apart;
    MPI_Type_vector(300, 1, 2, MPI_INT, &every_second);
    MPI_Type_create_resized(every_second, 0, 600 * sizeof(int), &apart);
    MPI_Type_commit(&every_second), MPI_Type_commit(&apart);
    int plain[300], gappy[600], *parts = malloc(size * 600 * sizeof *parts);
    for (int round = 0; round < 120; round++) {
        int sends_gappy = rank == round % size, gets_gappy = rank == (round / 2) % size, is_in_place = round % 3 == 0;
        int step = gets_gappy ? 2 : 1;
        for (int i = 0; i < 300; i++) plain[i] = gappy[2 * i] = rank * 1000 + i + round, gappy[2 * i + 1] = -7;
        for (int i = 0; i < size * 600; i++) parts[i] = -9;
        if (is_in_place)
            for (int i = 0; i < 300; i++) parts[(rank * 300 + i) * step] = plain[i];
        void *own = is_in_place ? MPI_IN_PLACE : sends_gappy ? (void *)gappy : plain;
        MPI_Allgather(own, sends_gappy ? 1 : 300, sends_gappy ? every_second : MPI_INT, parts, gets_gappy ? 1 : 300,
                      gets_gappy ? apart : MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size * 300; i++) CHECK(parts[i * step] == i / 300 * 1000 + i % 300 + round);
        for (int i = 1; gets_gappy && i < size * 600; i += 2) CHECK(parts[i] == -9);
    }
    free(parts);
    MPI_Type_free(&apart), MPI_Type_free(&every_second);
}

/* Handles are given anew after a communicator was freed. DUPLICATES=100000 takes a minute. */
static void duplicates(void) {
    int rounds = getenv("DUPLICATES") ? atoi(getenv("DUPLICATES")) : 500;
    MPI_Group world, reversed;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    int order[64];
    for (int i = 0; i < size; i++) order[i] = size - 1 - i;
    MPI_Group_incl(world, size, order, &reversed);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm comm;
        int sum = 0, root = 0, place;
        if (round % 3 == 0)
            MPI_Comm_create(MPI_COMM_WORLD, reversed, &comm);
        else
            MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_rank(comm, &place);
        CHECK(place == (round % 3 ? rank : size - 1 - rank));
        for (int i = 0; i < (round % 100 ? 1 : 20); i++) {
            MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, comm);
            CHECK(sum == size * (size - 1) / 2);
            root = place == 0 ? rank : -1;
            MPI_Bcast(&root, 1, MPI_INT, 0, comm);
            CHECK(root == (round % 3 ? 0 : size - 1));
        }
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&reversed);
    MPI_Group_free(&world);
}

/* Parts of all ranks, and a communicator between two of them. */
static void parts(void) {
    MPI_Comm part, between;
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &part);
    int mine, others;
    MPI_Comm_size(part, &mine);
    for (int round = 0; round < 100; round++) {
        int sum;
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, part);
        int expected = 0;
        for (int i = rank % 2; i < size; i += 2) expected += i;
        CHECK(sum == expected);
        MPI_Barrier(part);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, 1 - rank % 2, 7, &between);
    MPI_Comm_remote_size(between, &others);
    CHECK(mine + others == size);
    for (int round = 0; round < 50; round++) {
        int one = 1, sum = 0;
        MPI_Barrier(between);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, between);
        CHECK(sum == others);
    }
    MPI_Comm_free(&between);
    MPI_Comm_free(&part);
    for (int i = 0; i < 50; i++) MPI_Barrier(MPI_COMM_SELF);
}

/* [a, b] of lower ranks and [c, d] of higher ones become [a, d]. */
static void ends(void *lower, void *higher, int *len, MPI_Datatype *type) {
    int *left = lower, *right = higher;
    (void)type;
    for (int i = 0; i < *len; i++) right[2 * i] = left[2 * i];
}

/* Every type that an operation takes, some of which a library may lack: prints how many calls there were. */
static void types(void) {
    static const struct { MPI_Op op; MPI_Datatype types[24]; } TAKEN[] = {
        {MPI_SUM,
         {MPI_SHORT, MPI_INT, MPI_LONG, MPI_LONG_LONG, MPI_UNSIGNED_SHORT, MPI_UNSIGNED, MPI_UNSIGNED_LONG,
          MPI_UNSIGNED_LONG_LONG, MPI_SIGNED_CHAR, MPI_UNSIGNED_CHAR, MPI_INT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T,
          MPI_UINT8_T, MPI_UINT16_T, MPI_UINT32_T, MPI_UINT64_T, MPI_AINT, MPI_OFFSET, MPI_COUNT}},
        {MPI_PROD, {MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_C_COMPLEX, MPI_C_DOUBLE_COMPLEX}},
        {MPI_LXOR, {MPI_INT, MPI_C_BOOL}},
        {MPI_BXOR, {MPI_BYTE, MPI_LONG, MPI_AINT}},
        {MPI_MAXLOC, {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT}},
    };
    int calls = 0;
    for (int i = 0; i < 10; i++) MPI_Barrier(MPI_COMM_WORLD);
    for (unsigned i = 0; i < sizeof TAKEN / sizeof *TAKEN; i++) {
        for (int k = 0; k < 24; k++) {
            MPI_Datatype type = TAKEN[i].types[k];
            if (type == 0 || type == MPI_DATATYPE_NULL) continue;
            char from[64] = {0}, into[64] = {0};
            calls += size;
            CHECK(MPI_Allreduce(from, into, 1, type, TAKEN[i].op, MPI_COMM_WORLD) == MPI_SUCCESS);
        }
    }
    if (rank == 0) printf("calls %d,\n", calls);
}

/* Rank 0 founds the group, and runs on one CPU of those that the ranks have. */
static void bound(void) {
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
        if (CPU_ISSET(cpu, &all)) CPU_SET(cpu, &one);
    if (rank == 0) CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    for (int round = 0; round < 50; round++) MPI_Barrier(MPI_COMM_WORLD);
}

/* Operations of the program's own. */
static void own_operations(void) {
    MPI_Op op;
    MPI_Datatype two;
    MPI_Op_create(ends, 0, &op);
    MPI_Type_contiguous(2, MPI_INT, &two);
    MPI_Type_commit(&two);
    for (int round = 0; round < 100; round++) {
        int pair[2] = {rank + round, rank + round}, result[2] = {-1, -1};
        MPI_Allreduce(pair, result, 1, two, op, MPI_COMM_WORLD);
        CHECK(result[0] == round && result[1] == round + size - 1);
        MPI_Reduce(pair, result, 1, two, op, round % size, MPI_COMM_WORLD);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&two);
}

static MPI_Comm of_thread[2];

static void *meet(void *number) {
    MPI_Comm comm = of_thread[(intptr_t)number];
    for (int round = 0; round < 2000; round++) {
        int sum, value = (int)(intptr_t)number + round;
        MPI_Barrier(comm);
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == value * size);
    }
    return NULL;
}

/* Two threads, each on a communicator of its own. */
static void threads(void) {
    int provided;
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_MULTIPLE) return;
    pthread_t other;
    for (int i = 0; i < 2; i++) MPI_Comm_dup(MPI_COMM_WORLD, &of_thread[i]);
    pthread_create(&other, NULL, meet, (void *)1);
    meet((void *)0);
    pthread_join(other, NULL);
    for (int i = 0; i < 2; i++) MPI_Comm_free(&of_thread[i]);
}

/* Wrong arguments are for the library to refuse. */
static void wrong(void) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Datatype uncommitted;
    MPI_Type_vector(2, 1, 2, MPI_INT, &uncommitted);
    int pairs[4] = {0};
    for (int round = 0; round < 40; round++) {
        int value = 1, result, class;
        MPI_Barrier(comm);
        MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, size + 3, comm), &class);
        CHECK(class == MPI_ERR_ROOT);
        MPI_Error_class(MPI_Reduce(&value, &result, 1, MPI_INT, MPI_SUM, -5, comm), &class);
        CHECK(class == MPI_ERR_ROOT);
        MPI_Error_class(MPI_Bcast(&value, -1, MPI_INT, 0, comm), &class);
        CHECK(class == MPI_ERR_COUNT);
        MPI_Error_class(MPI_Bcast(&value, 1, MPI_DATATYPE_NULL, 0, comm), &class);
        CHECK(class == MPI_ERR_TYPE);
        MPI_Error_class(MPI_Bcast(pairs, 1, uncommitted, 0, comm), &class);
        CHECK(class == MPI_ERR_TYPE);
        int parts[2 * 64];
        MPI_Error_class(MPI_Allgather(pairs, 1, uncommitted, parts, 2, MPI_INT, comm), &class);
        CHECK(class == MPI_ERR_TYPE);
        MPI_Error_class(MPI_Allgather(&value, 1, MPI_INT, parts, -1, MPI_INT, comm), &class);
        CHECK(class == MPI_ERR_COUNT);
        MPI_Error_class(MPI_Allgather(&value, 1, MPI_DATATYPE_NULL, parts, 1, MPI_INT, comm), &class);
        CHECK(class == MPI_ERR_TYPE);
        CHECK(MPI_Reduce(rank == 1 ? NULL : &value, &result, 0, MPI_INT, MPI_SUM, 0, comm) == MPI_SUCCESS);
        /* The constant is no place for a result. Open MPI calls the error handler of MPI_COMM_WORLD. */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        CHECK(MPI_Allreduce(&value, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS);
        CHECK(MPI_Reduce(&value, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, rank, comm) != MPI_SUCCESS);
        CHECK(MPI_Allgather(&value, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, comm) != MPI_SUCCESS);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
        double number = 1, bits;
        MPI_Error_class(MPI_Allreduce(&number, &bits, 1, MPI_DOUBLE, MPI_BAND, comm), &class);
        CHECK(class == MPI_ERR_OP);
        MPI_Error_class(MPI_Reduce(&value, &result, 1, MPI_INT, MPI_MAXLOC, 0, comm), &class);
        CHECK(class == MPI_ERR_OP);
    }
    MPI_Comm_free(&comm);
}

static int told;

static void count_told(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, told++; }

/* A handle that no communicator has, before all others: the library tells of it once for each call. Open MPI's
 * allgather crashes with one, without the object, too. */
static void null_handle(void) {
    MPI_Errhandler handler;
    MPI_Comm none;
    int value = 0, sum;
    memset(&none, 0, sizeof none);
    MPI_Comm_create_errhandler(count_told, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
    CHECK(MPI_Barrier(none) != MPI_SUCCESS && told == 1);
    CHECK(MPI_Bcast(&value, 1, MPI_INT, 0, none) != MPI_SUCCESS && told == 2);
    CHECK(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, none) != MPI_SUCCESS && told == 3);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Errhandler_free(&handler);
    for (int round = 0; round < 20; round++) MPI_Barrier(MPI_COMM_WORLD);
}

/* The last rank dies in the middle; whoever started the others ends them, or they end by the library's own error. */
static void killed(void) {
    for (int round = 0; round < 200; round++) {
        if (rank == size - 1 && round == 100) _exit(9);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The rank that is waited for comes late, often by several milliseconds: others sleep meanwhile. */
static void late(void) {
    for (int round = 0; round < 60; round++) {
        if (rank == round % size) usleep(draw(5000));
        else draw(5000);
        int value = rank == 0 ? round : -1;
        MPI_Bcast(&value, 1, MPI_INT, 0, MPI_COMM_WORLD);
        CHECK(value == round);
        int sum = 0;
        MPI_Reduce(&value, &sum, 1, MPI_INT, MPI_SUM, size - 1, MPI_COMM_WORLD);
        if (rank == size - 1) CHECK(sum == round * size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

/* The same bits at all ranks, whatever the values. */
static void bits(void) {
    float values[300], sums[300], first[300];
    for (int round = 0; round < 200; round++) {
        int len = 1 + draw(300);
        for (int i = 0; i < len; i++) values[i] = (float)(1.0 / (3 + rank * 17 + i * 5 + round));
        MPI_Allreduce(values, sums, len, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
        memcpy(first, sums, sizeof first);
        MPI_Bcast(first, len, MPI_FLOAT, 0, MPI_COMM_WORLD);
        CHECK(memcmp(first, sums, len * sizeof *sums) == 0);
    }
}

#ifndef HAS_LARGE_COUNTS
/* Programs look whether a library has them. Those that find the object's have to get what they ask for. */
static int (*MPI_Bcast_c)(void *, MPI_Count, MPI_Datatype, int, MPI_Comm);
static int (*MPI_Allreduce_c)(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, MPI_Comm);
static int (*MPI_Reduce_c)(const void *, void *, MPI_Count, MPI_Datatype, MPI_Op, int, MPI_Comm);
static int (*MPI_Allgather_c)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm);

static void find_large(void) {
    void *all = dlopen(NULL, RTLD_LAZY);
    *(void **)&MPI_Bcast_c = dlsym(all, "MPI_Bcast_c");
    *(void **)&MPI_Allreduce_c = dlsym(all, "MPI_Allreduce_c");
    *(void **)&MPI_Reduce_c = dlsym(all, "MPI_Reduce_c");
    *(void **)&MPI_Allgather_c = dlsym(all, "MPI_Allgather_c");
    CHECK(MPI_Bcast_c && MPI_Allreduce_c && MPI_Reduce_c && MPI_Allgather_c);
}
#else
static void find_large(void) {}
#endif

static void large(void) {
    find_large();
    for (int round = 0; round < 100; round++) {
        int value = rank == 1 ? round : -1, sum = 0, place = rank;
        MPI_Bcast_c(&value, 1, MPI_INT, 1, MPI_COMM_WORLD);
        CHECK(value == round);
        MPI_Allreduce_c(&place, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        CHECK(sum == size * (size - 1) / 2);
        MPI_Reduce_c(&place, &sum, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
        if (rank == 0) CHECK(sum == size - 1);
        int parts[64];
        MPI_Allgather_c(&place, 1, MPI_INT, parts, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++) CHECK(parts[i] == i);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int value = 0;
    CHECK(MPI_Bcast_c(&value, (MPI_Count)1 << 40, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Allgather_c(&value, 1, MPI_INT, &value, (MPI_Count)1 << 40, MPI_DATATYPE_NULL, MPI_COMM_WORLD) != MPI_SUCCESS);
}

#ifdef HAS_LARGE_COUNTS
/* Without MPI_Init there is no communicator of all ranks, nor one of a rank alone. */
static int sessions(void) {
    MPI_Session session;
    MPI_Group group;
    MPI_Comm comm;
    MPI_Datatype every_second;
    CHECK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS);
    MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
    MPI_Comm_create_from_group(group, "served", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
    MPI_Group_free(&group);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Type_vector(4, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int round = 0; round < 50; round++) {
        int gappy[8], one = 1, sum = 0;
        MPI_Barrier(comm);
        for (int i = 0; i < 8; i++) gappy[i] = rank == 0 ? round + i : -1;
        MPI_Bcast(gappy, 1, every_second, 0, comm);
        CHECK(gappy[2] == round + 2 && gappy[6] == round + 6);
        MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
        CHECK(sum == size);
    }
    if (rank == 0) printf("ok\n");
    MPI_Type_free(&every_second);
    MPI_Comm_free(&comm);
    MPI_Session_finalize(&session);
    return 0;
}
#else
static int sessions(void) { return 2; }
#endif

static const struct { const char *name; void (*run)(void); } CASES[] = {
    {"counters", counters}, {"progress", progress}, {"derived", derived},   {"lengths", lengths},
    {"duplicates", duplicates}, {"parts", parts},   {"operations", own_operations}, {"threads", threads},
    {"wrong", wrong},       {"killed", killed},     {"late", late},         {"bits", bits}, {"large", large},
    {"types", types},       {"bound", bound},       {"gathered", gathered}, {"null", null_handle},
};

int main(int argc, char **argv) {
    int provided;
    if (argc > 1 && strcmp(argv[1], "sessions") == 0) return sessions();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = argc > 2 ? strtoull(argv[2], NULL, 0) | 1 : 1;
    int known = 0;
    for (unsigned i = 0; argc > 1 && i < sizeof CASES / sizeof *CASES; i++) {
        if (strcmp(argv[1], CASES[i].name) == 0) {
            CASES[i].run();
            known = 1;
        }
    }
    MPI_Finalize();
    if (rank == 0) printf("%s\n", known ? "ok" : "unknown case");
    return known ? 0 : 2;
}
