/* A member's work on the harness's commands; the second half of driver.h. */

/* Every member's part in the sum of a round, as the harness has it. */
static inline uint64_t contribution(int rank, uint64_t number)
{
    return ((uint64_t)rank + 1) * 0x9e3779b97f4a7c15u + number;
}

/* The value that a member brings to the next operation. */
static inline void bring(struct member *me, bool rooted, uint64_t words)
{
    for (uint64_t i = 0; i < words; i++) {
        if (!rooted)
            me->value[i] = contribution(me->rank, me->number) + i;
        else
            me->value[i] = me->rank == me->arguments->root ? me->number * 8 + i : 0;
    }
}

static inline void keep(const uint64_t *value)
{
    __asm__ volatile("" : : "r"(value) : "memory");
}

#ifdef EXCHANGES
static inline void exchange(struct member *me, enum op op, uint64_t words)
{
    bool is_root = me->rank == me->arguments->root;
    switch (op) {
    case GATHER:
        bring(me, false, words);
        gather(me, me->value, me->result, words);
        break;
    case SCATTER:
        for (int rank = 0; is_root && rank < me->arguments->members; rank++)
            for (uint64_t i = 0; i < words; i++)
                me->value[rank * words + i] = contribution(rank, me->number) + i;
        scatter(me, me->value, me->result, words);
        break;
    case COMMIT:
        if (is_root)
            bring(me, true, words);
        me->committed = commit(me, me->value, words, !me->refuses || me->number % 4 != 3);
        break;
    default:
        bring(me, false, words);
        atomic_stream(me, me->value, me->result, words);
    }
    keep(me->value);
    keep(me->result);
    me->number++;
}
#endif

static inline void perform(struct member *me, const struct command *command, uint64_t count)
{
    uint64_t words = command->bytes / sizeof(uint64_t);
    switch (command->op) {
    case BARRIER:
        for (uint64_t i = 0; i < count; i++)
            barrier(me);
        return;
    case BROADCAST:
        for (uint64_t i = 0; i < count; i++, me->number++) {
            bring(me, true, words);
            broadcast(me, me->value, command->bytes);
            keep(me->value);
        }
        return;
    case REDUCE:
        for (uint64_t i = 0; i < count; i++, me->number++) {
            bring(me, false, words);
            reduce(me, me->value, me->result, words);
            keep(me->result);
        }
        return;
#ifdef EXCHANGES
    case GATHER:
    case SCATTER:
    case COMMIT:
    case ATOMIC_STREAM:
        for (uint64_t i = 0; i < count; i++)
            exchange(me, command->op, words);
        return;
#endif
    default:
        for (uint64_t i = 0; i < count; i++, me->number++) {
            bring(me, false, words);
            allreduce(me, me->value, me->result, words);
            keep(me->result);
        }
    }
}

/* Comes late by nothing, a little, or long enough for others to wait properly. */
static void dawdle(struct member *me)
{
    me->delays = me->delays * 6364136223846793005u + 1442695040888963407u;
    unsigned draw = (unsigned)(me->delays >> 33);
    if (draw % 8 == 0)
        sched_yield();
    for (unsigned i = 0; draw % 8 < 4 && i < draw / 8 % 64; i++)
        pause_briefly();
}

/* Keeps what was found first. */
static void find_wrong(struct member *me, const char *what, uint64_t found, uint64_t expected)
{
    struct seat *seat = &me->shared->seats[me->rank];
    if (seat->wrong[0] == '\0')
        snprintf(seat->wrong, sizeof seat->wrong, "%s: member %d finds %llu, expected %llu", what, me->rank,
                 (unsigned long long)found, (unsigned long long)expected);
}

/* Nobody leaves a barrier before all have entered it. */
static void check_barrier(struct member *me, uint64_t round)
{
    struct seat *seats = me->shared->seats;
    dawdle(me);
    atomic_store_explicit(&seats[me->rank].came, round, memory_order_relaxed);
    barrier(me);
    for (int rank = 0; rank < me->arguments->members; rank++) {
        uint64_t came = atomic_load_explicit(&seats[rank].came, memory_order_relaxed);
        if (came < round || came > round + 1)
            find_wrong(me, "not all had come to the round of the barrier", came, round);
    }
}

static void check_words(struct member *me, bool rooted, const uint64_t *found, uint64_t number, uint64_t words)
{
    for (uint64_t i = 0; i < words; i++) {
        uint64_t expected = rooted ? number * 8 + i : 0;
        for (int rank = 0; !rooted && rank < me->arguments->members; rank++)
            expected += contribution(rank, number) + i;
        if (found[i] != expected)
            find_wrong(me, rooted ? "broadcast" : "sum", found[i], expected);
    }
}

#ifdef EXCHANGES
static void expect_words(struct member *me, const char *what, const uint64_t *found, uint64_t first, uint64_t words)
{
    for (uint64_t i = 0; i < words; i++)
        if (found[i] != first + i)
            find_wrong(me, what, found[i], first + i);
}

/* The last member refuses every fourth proposal; the root proposes, so it does not. */
static void check_exchange(struct member *me, const struct command *command)
{
    int members = me->arguments->members, root = me->arguments->root;
    uint64_t words = command->bytes / sizeof(uint64_t), number = me->number;
    enum op op = command->op;
    me->refuses = me->rank == (root + 1 == members ? 0 : members - 1);
    memset(me->result, 0, me->room);
    if (op == COMMIT)
        memset(me->value, 0, command->bytes);
    dawdle(me);
    perform(me, command, 1);
    me->refuses = false;
    if (op == COMMIT) {
        expect_words(me, "proposal", me->value, number * 8, words);
        if (me->committed != (number % 4 != 3))
            find_wrong(me, "decision", me->committed, number % 4 != 3);
    } else if (op == SCATTER) {
        expect_words(me, "part", me->result, contribution(me->rank, number), words);
    } else if (op == ATOMIC_STREAM || me->rank == root) {
        for (int rank = 0; rank < members; rank++)
            expect_words(me, "part", me->result + rank * words, contribution(rank, number), words);
    }
}
#endif

static void check(struct member *me, const struct command *command)
{
    bool rooted = command->op == BROADCAST, everywhere = command->op != REDUCE;
    uint64_t words = command->bytes / sizeof(uint64_t);
    for (uint64_t round = 1; round <= command->count; round++) {
        if (command->op == BARRIER) {
            check_barrier(me, round);
            continue;
        }
#ifdef EXCHANGES
        if (command->op >= GATHER) {
            check_exchange(me, command);
            continue;
        }
#endif
        uint64_t number = me->number;
        memset(me->result, 0, command->bytes);
        dawdle(me);
        perform(me, command, 1);
        if (everywhere || me->rank == me->arguments->root)
            check_words(me, rooted, rooted ? me->value : me->result, number, words);
    }
}

/* How long after each agreed start this member had done its part. */
static void windows(struct member *me, const struct command *command, uint64_t begin)
{
    uint64_t width = command->extra[0], tolerance = command->extra[2];
    for (uint64_t i = 0; i < command->count && i < MOST_WINDOWS; i++) {
        uint64_t start = begin + i * width, now;
        while ((now = ticks(me->arguments)) < start)
            pause_briefly();
        perform(me, command, 1);
        uint64_t took = ticks(me->arguments) - start;
        me->shared->seats[me->rank].windows[i] = now - start > tolerance ? LATE : took;
    }
}

/* Operations after some empty steps each, of which the first are timed. */
static void rounds(struct member *me, const struct command *command)
{
    free(me->rounds);
    me->rounds = calloc(command->extra[1] + 1, sizeof *me->rounds);
    if (!me->rounds)
        fail("no memory");
    uint64_t before = ticks(me->arguments);
    for (uint64_t i = 0; i < command->count; i++) {
        for (uint64_t step = 0; step < command->extra[0]; step++)
            __asm__ volatile("" : : "r"(step));
        perform(me, command, 1);
        uint64_t now = ticks(me->arguments);
        if (i < command->extra[1])
            me->rounds[i] = now - before;
        before = now;
    }
}

/* Room for the values of a command, all of it touched. */
static void make_room(struct member *me, uint64_t bytes)
{
    if (bytes > me->room || !me->value) {
        free(me->value);
        free(me->result);
        me->room = (bytes / LINE + 1) * LINE;
        me->value = aligned_alloc(LINE, me->room);
        me->result = aligned_alloc(LINE, me->room);
        if (!me->value || !me->result)
            fail("no memory");
        memset(me->value, 0, me->room);
        memset(me->result, 0, me->room);
    }
}

static void execute(struct member *me, const struct command *command)
{
    struct seat *seat = &me->shared->seats[me->rank];
    /* Some operations have the values of all in one place. */
    make_room(me, command->op >= GATHER ? command->bytes * (uint64_t)me->arguments->members : command->bytes);
    seat->wrong[0] = '\0';
    uint64_t begin = meet(me, command->verb == WINDOWS ? command->extra[1] : 0);
    uint64_t cpu = cpu_ns();
    seat->start = ticks(me->arguments);
    switch (command->verb) {
    case CHECK:
        check(me, command);
        break;
    case SEPARATED:
        for (uint64_t i = 0; i < command->count; i++) {
            perform(me, command, 1);
            meet(me, 0);
        }
        break;
    case WINDOWS:
        windows(me, command, begin);
        break;
    case ROUNDS:
        rounds(me, command);
        break;
    default:
        perform(me, command, command->count);
    }
    seat->end = ticks(me->arguments);
    seat->cpu_ns = cpu_ns() - cpu;
    meet(me, 0);
}

static int name_in(const char *const *names, int count, const char *name)
{
    int i = 0;
    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

/* The next command; false at the end of the input. */
static bool read_command(struct command *command)
{
    static const char *const verbs[] = {"check", "run", "separated", "windows", "rounds"};
    static const char *const ops[] = {"barrier", "broadcast", "reduce", "allreduce",
                                      "gather",  "scatter",   "commit", "atomic_stream"};
    char line[256], verb[16], op[16];
    unsigned long long numbers[5] = {0};
    while (fgets(line, sizeof line, stdin)) {
        int read = sscanf(line, "%15s %15s %llu %llu %llu %llu %llu", verb, op, &numbers[0], &numbers[1], &numbers[2],
                          &numbers[3], &numbers[4]);
        if (read < 4)
            fail("a command that is none");
        command->verb = (enum verb)name_in(verbs, NO_VERB, verb);
        command->op = (enum op)name_in(ops, NO_OP, op);
        command->bytes = numbers[0];
        command->count = numbers[1];
        for (int i = 0; i < 3; i++)
            command->extra[i] = numbers[i + 2];
        if (command->verb == NO_VERB || command->op == NO_OP)
            fail("a command that is none");
        if (performs(command->op, command->bytes))
            return true;
        printf("wrong %s of %llu bytes is not offered\n", op, numbers[0]);
        fflush(stdout);
    }
    return false;
}

static void answer_windows(const struct shared *shared, int members, uint64_t count)
{
    printf("windows");
    for (uint64_t i = 0; i < count && i < MOST_WINDOWS; i++) {
        uint64_t last = 0;
        for (int rank = 0; rank < members; rank++)
            last = shared->seats[rank].windows[i] > last ? shared->seats[rank].windows[i] : last;
        if (last == LATE)
            printf(" -");
        else
            printf(" %llu", (unsigned long long)last);
    }
    printf("\n");
}

static void answer(const struct member *me)
{
    struct shared *shared = me->shared;
    int members = me->arguments->members;
    uint64_t start = 0, end = 0;
    for (int rank = 0; rank < members; rank++) {
        struct seat *seat = &shared->seats[rank];
        if (seat->wrong[0]) {
            printf("wrong %s\n", seat->wrong);
            return;
        }
        start = seat->start > start ? seat->start : start;
        end = seat->end > end ? seat->end : end;
    }
    if (shared->command.verb == WINDOWS) {
        answer_windows(shared, members, shared->command.count);
        return;
    }
    bool has_rounds = shared->command.verb == ROUNDS;
    printf("%s %llu", has_rounds ? "rounds" : "done", (unsigned long long)(end > start ? end - start : 0));
    for (int rank = 0; rank < members; rank++)
        printf(" %llu", (unsigned long long)shared->seats[rank].cpu_ns);
    if (has_rounds)
        printf(" ;");
    for (uint64_t i = 0; has_rounds && i < shared->command.extra[1]; i++)
        printf(" %llu", (unsigned long long)me->rounds[i]);
    printf("\n");
}

/* A member's whole life. Member 0 talks to the harness. */
static void serve(const struct arguments *arguments, struct shared *shared, int rank)
{
    struct member me = {.arguments = arguments, .shared = shared, .rank = rank, .delays = (uint64_t)rank};
    pin(arguments->cpus[rank]);
    meet(&me, 0);
    if (rank == 0) {
        printf("ready\n");
        fflush(stdout);
    }
    for (uint32_t seen = 0;; seen++) {
        if (rank == 0) {
            if (!read_command(&shared->command))
                shared->command.verb = NO_VERB;
            announce(shared);
        } else {
            await_command(shared, seen);
        }
        if (shared->command.verb == NO_VERB)
            break;
        execute(&me, &shared->command);
        if (rank == 0) {
            answer(&me);
            fflush(stdout);
        }
    }
    free(me.value);
    free(me.result);
    free(me.rounds);
}
