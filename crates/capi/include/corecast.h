// corecast: messages among the threads and processes of one machine.
//
// corecast_<object>_<verb> returns a corecast_status; outputs come last, and are only written where the call returns
// CORECAST_OK, unless its comment says otherwise. corecast_error_message has the error message.
//
// Pointers. An object is used from its creation to its end (_destroy, _close), each of which takes place once; using it
// afterwards, ending it twice or passing another kind of object is undefined. Texts end with a zero byte and are UTF-8;
// `data` has `len` bytes; outputs can be written. NULL is CORECAST_INVALID_ARGUMENT where it is not allowed.
//
// Threads. Different objects can be used by different threads at the same time. One object is used by one thread at a
// time, which need not be the one that made it; a corecast_region, a corecast_lock, a corecast_shared_lock, a corecast_rw_lock,
// a corecast_condvar, a corecast_replica and a corecast_tm may be used by many. Waiting calls block.
//
// Parameters. A struct of parameters begins with its size; its other fields mean a default if they are 0. So set all of it
// to 0 (memset), then size to its sizeof, then the fields that matter. Later versions may add fields at its end.
//
// This file is made of the sources in crates/capi: edit it there.


#ifndef CORECAST_H
#define CORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The bytes to which a type is aligned.
#define CORECAST_ALIGNED(bytes) __attribute__((aligned(bytes)))

// The color of a member that wants to be in no part.
#define CORECAST_NO_COLOR -1

// How a call ended. Unless it is CORECAST_OK, the outputs are unchanged, if the comment of the function does not say
// otherwise.
typedef enum {
  // Done.
  CORECAST_OK = 0,
  // The channel is full, or a session has as many requests without a result as it may have.
  CORECAST_FULL = 1,
  // The channel is empty.
  CORECAST_EMPTY = 2,
  // It did not happen in time.
  CORECAST_TIMEOUT = 3,
  // The other end said goodbye, and everything it sent has been received.
  CORECAST_CLOSED = 4,
  // The process at the other end is gone and said nothing; everything it sent has been received. Of a group with state: all
  // members are gone.
  CORECAST_DIED = 5,
  // The message is longer than the channel takes, or than the buffer, or an operation longer than its group takes.
  CORECAST_TOO_LARGE = 6,
  // The reader fell behind and missed messages. The next call goes on with the oldest one left.
  CORECAST_LAGGED = 7,
  // Another process wrote bytes that the protocol does not allow: stop trusting the region.
  CORECAST_CORRUPT = 8,
  // The object was made before fork(), and this is the child, which has to make its own.
  CORECAST_FORKED = 9,
  // An argument is not what the function takes; the message names it.
  CORECAST_INVALID_ARGUMENT = 10,
  // There is nothing with this name.
  CORECAST_NOT_FOUND = 11,
  // There is something with this name already.
  CORECAST_EXISTS = 12,
  // Another participant has this end, or all places for it are taken.
  CORECAST_TAKEN = 13,
  // It is there, but of another kind, version or owner than expected, or damaged.
  CORECAST_MISMATCH = 14,
  // The system refused a request; the message says which.
  CORECAST_SYSTEM = 15,
  // A rule of use was broken, or the library has a bug; the message says which. The arguments of the call can only be
  // destroyed.
  CORECAST_PANIC = 16,
  // All channels of the select have ended, or it has none.
  CORECAST_NONE_LEFT = 17,
  // A member of the group is lost: corecast_member_lost says which one, the message why. The group has failed.
  CORECAST_LOST = 18,
  // The process that held the lock is gone and may have left its change half done. **The caller has the lock** all the
  // same.
  CORECAST_OWNER_DIED = 19,
  // Members of the group called different operations, or one operation with different roots: the message names the calls
  // of the members. The group has failed.
  CORECAST_OUT_OF_STEP = 20,
  // The time was up, and the operation may have been done or not: corecast_replica_session_resume asks again.
  CORECAST_UNKNOWN = 21,
  // The session has ended. Requests without a result may have been done or not.
  CORECAST_EXPIRED = 22,
  // This node is no longer a member of its group.
  CORECAST_EXPELLED = 23,
  // Too few of the nodes that the group began with live to agree on who leads.
  CORECAST_NO_MAJORITY = 24,
  // The group has stopped: all replicas failed at the same operation. Of transactions: a participant died in the middle of its
  // work.
  CORECAST_POISONED = 25,
  // The state of this replica differed from that of most others, so it was put out.
  CORECAST_DIVERGED = 26,
  // This replica is behind and did not catch up in time. A read of its own state, as it is, still works.
  CORECAST_LAGGING = 27,
  // The attempt of a transaction is over: return from its body, which may be called again.
  CORECAST_ABORTED = 28,
  // Groups over several machines have no such operation, or nothing there can do it; the message says which.
  CORECAST_UNSUPPORTED = 29,
} corecast_status;

// Whether a participant is alive.
typedef enum {
  // It is there, though it may be stopped or hang.
  CORECAST_LIVENESS_ALIVE = 0,
  // It said goodbye.
  CORECAST_LIVENESS_LEFT = 1,
  // It ended without saying goodbye. The kernel told so: a slow process does not count as dead.
  CORECAST_LIVENESS_DEAD = 2,
} corecast_liveness;

// How an event gets from one member to the next.
typedef enum {
  // A count of each member on a line of its own; one store passes on all events that have come.
  CORECAST_ACK_EDGES_COUNTERS = 0,
  // A message for each event.
  CORECAST_ACK_EDGES_MESSAGES = 1,
  // A task for each event, run in the order in which they come.
  CORECAST_ACK_EDGES_TASKS_FIFO = 2,
  // A task for each event, the last one first.
  CORECAST_ACK_EDGES_TASKS_LIFO = 3,
} corecast_ack_edges;

// When a member acknowledges an event.
typedef enum {
  // When it has processed it.
  CORECAST_ACK_ON_PROCESSED = 0,
  // As soon as it has a copy.
  CORECAST_ACK_ON_RECEIVED = 1,
} corecast_ack_on;

// The kind of graph over which events go out and acknowledgements come back.
typedef enum {
  // The one that suits the edges.
  CORECAST_ACK_VARIANT_AUTO = 0,
  // Down a balanced tree, and the acknowledgements up again.
  CORECAST_ACK_VARIANT_TREE = 1,
  // Around a diamond ring: every member acts once for each event.
  CORECAST_ACK_VARIANT_RING = 2,
  // The same, and a member begins an event only after the one before.
  CORECAST_ACK_VARIANT_ORDERED_RING = 3,
} corecast_ack_variant;

// How the sender of a ff channel looks for empty cells.
typedef enum {
  // At each cell before it writes there.
  CORECAST_FF_PROBE_CELL = 0,
  // At one cell for a whole line, which the receiver clears at once. Up to 16 cells fewer can be in use.
  CORECAST_FF_PROBE_LINE = 1,
} corecast_ff_probe;

// The algorithm of a lock. `corecast list locks` describes each, and says when to take it. The number of an algorithm
// never changes.
typedef enum {
  // Swaps one word until the lock was free.
  CORECAST_LOCK_ALGORITHM_TAS = 1,
  // Reads one word until it is free, with exponential back-off.
  CORECAST_LOCK_ALGORITHM_TTAS = 2,
  // Draws a number, with back-off in proportion to those ahead.
  CORECAST_LOCK_ALGORITHM_TICKET = 3,
  // Draws a number; each thread polls a line of its own.
  CORECAST_LOCK_ALGORITHM_ARRAY = 4,
  // A queue; each thread polls its own node.
  CORECAST_LOCK_ALGORITHM_MCS = 5,
  // A queue; each thread polls the node of the one before.
  CORECAST_LOCK_ALGORITHM_CLH = 6,
  // One word, spins for a while and then sleeps.
  CORECAST_LOCK_ALGORITHM_WORD = 7,
  // Moves between polling, a queue and sleep. Take it unless you know better.
  CORECAST_LOCK_ALGORITHM_AUTO = 8,
  // One byte; its threads sleep in a table that all such locks share.
  CORECAST_LOCK_ALGORITHM_BYTE = 9,
  // A queue whose threads sleep.
  CORECAST_LOCK_ALGORITHM_QWORD = 10,
  // A tree of queues: hands the lock to a thread nearby, a limited number of times in a row.
  CORECAST_LOCK_ALGORITHM_HMCS = 11,
} corecast_lock_algorithm;

// How the threads at a lock of the algorithm auto wait.
typedef enum {
  // All threads poll one word.
  CORECAST_LOCK_MODE_SPIN = 0,
  // The first thread of a queue polls the word, each other one a line of its own.
  CORECAST_LOCK_MODE_QUEUE = 1,
  // All threads poll the word for as long as a wake-up costs, then sleep.
  CORECAST_LOCK_MODE_PARK = 2,
} corecast_lock_mode;

// Whether the senders of a mcast channel may overwrite what a reader has not read.
typedef enum {
  // Never: every reader is reliable.
  CORECAST_MCAST_DELIVERY_GATED = 0,
  // Where the reader's policy says so.
  CORECAST_MCAST_DELIVERY_OVERWRITE = 1,
} corecast_mcast_delivery;

// How a mcast channel treats a reader that falls behind.
typedef enum {
  // The senders wait, however long it takes.
  CORECAST_MCAST_POLICY_RELIABLE = 0,
  // The senders wait until the reader's deadline, then go on without it, and it gets CORECAST_LAGGED.
  CORECAST_MCAST_POLICY_DEADLINE = 1,
  // The senders do not wait, and it gets CORECAST_LAGGED.
  CORECAST_MCAST_POLICY_LOSSY = 2,
} corecast_mcast_policy;

// How the senders of a mcast channel behave while there is no reader.
typedef enum {
  // The message is dropped.
  CORECAST_MCAST_ZERO_READERS_DISCARD = 0,
  // Wait for a reader.
  CORECAST_MCAST_ZERO_READERS_BLOCK = 1,
} corecast_mcast_zero_readers;

// The type of the numbers of a reduction.
typedef enum {
  // int32_t.
  CORECAST_NUMBER_INT32 = 0,
  // int64_t.
  CORECAST_NUMBER_INT64 = 1,
  // uint32_t.
  CORECAST_NUMBER_UINT32 = 2,
  // uint64_t.
  CORECAST_NUMBER_UINT64 = 3,
  // float.
  CORECAST_NUMBER_FLOAT = 4,
  // double.
  CORECAST_NUMBER_DOUBLE = 5,
} corecast_number;

// The operation that combines two numbers. Integers wrap around; of a number and a NaN the NaN is the least and the
// greatest.
typedef enum {
  // The sum.
  CORECAST_OP_SUM = 0,
  // The product.
  CORECAST_OP_PROD = 1,
  // The least.
  CORECAST_OP_MIN = 2,
  // The greatest.
  CORECAST_OP_MAX = 3,
  // Bitwise and; integers only.
  CORECAST_OP_AND = 4,
  // Bitwise or; integers only.
  CORECAST_OP_OR = 5,
  // Bitwise exclusive or; integers only.
  CORECAST_OP_XOR = 6,
  // Of pairs of a number and a place, the pair with the least number; of equal ones the least place. `count` is twice the
  // number of pairs.
  CORECAST_OP_MIN_LOC = 7,
  // The same with the greatest number, and the least place.
  CORECAST_OP_MAX_LOC = 8,
} corecast_op;

// When an operation is durable in files.
typedef enum {
  // Before its result is handed out: power loss loses nothing.
  CORECAST_REPLICA_FSYNC_ALWAYS = 0,
  // Once a second: power loss loses a second, the death of all processes nothing.
  CORECAST_REPLICA_FSYNC_EVERY_SECOND = 1,
  // When the kernel likes: the death of all processes loses nothing.
  CORECAST_REPLICA_FSYNC_NEVER = 2,
} corecast_replica_fsync;

// How fresh the answer to a read has to be.
typedef enum {
  // It shows every operation whose result any client has seen before the read began.
  CORECAST_REPLICA_LEVEL_LINEARIZABLE = 0,
  // It shows the operation at the index of the call, and all before it.
  CORECAST_REPLICA_LEVEL_AT_LEAST = 1,
  // It shows what this replica has applied; waits for no other node.
  CORECAST_REPLICA_LEVEL_LOCAL = 2,
} corecast_replica_level;

// Which nodes of a group have the roles.
typedef enum {
  // Leader and acceptor are different nodes while there are two.
  CORECAST_REPLICA_PLACEMENT_SEPARATE = 0,
  // The leader accepts itself: fewer messages.
  CORECAST_REPLICA_PLACEMENT_FUSED = 1,
} corecast_replica_placement;

// The algorithm of a reader-writer lock. The number of an algorithm never changes.
typedef enum {
  // One word that counts readers. The smallest, for readers that seldom meet.
  CORECAST_RW_LOCK_ALGORITHM_TTAS = 1,
  // Readers and writers take turns, so that none of them waits for ever.
  CORECAST_RW_LOCK_ALGORITHM_PHASE = 2,
  // Readers that meet often count themselves on lines of their own, and do not disturb each other. Take it unless you know
  // better.
  CORECAST_RW_LOCK_ALGORITHM_SPREAD = 3,
  // One word, whose threads sleep. Take it where there may be more threads than CPUs, or sections are long.
  CORECAST_RW_LOCK_ALGORITHM_WORD = 4,
} corecast_rw_lock_algorithm;

// The side that decides conflicts.
typedef enum {
  // Servers, by messages.
  CORECAST_TM_FORM_MESSAGES = 0,
  // The participants themselves, in shared memory.
  CORECAST_TM_FORM_SHARED = 1,
  // The one of both that is faster here.
  CORECAST_TM_FORM_AUTO = 2,
} corecast_tm_form;

// How the conflict of two transactions is decided.
typedef enum {
  // The participant whose successful attempts took less time wins: fair in that time.
  CORECAST_TM_MANAGER_FAIR_CM = 0,
  // The one that asks for a variable loses.
  CORECAST_TM_MANAGER_NONE = 1,
  // The same, and it waits longer after each time.
  CORECAST_TM_MANAGER_BACK_OFF = 2,
  // The participant with fewer commits wins.
  CORECAST_TM_MANAGER_WHOLLY = 3,
  // The transaction that began first wins.
  CORECAST_TM_MANAGER_OFFSET_GREEDY = 4,
} corecast_tm_manager;

// Where the values of variables are.
typedef enum {
  // In shared memory.
  CORECAST_TM_VALUES_IN_MEMORY = 0,
  // With the server of the variable, and in messages.
  CORECAST_TM_VALUES_AT_SERVERS = 1,
} corecast_tm_values;

// When a transaction claims what it writes.
typedef enum {
  // When it commits.
  CORECAST_TM_WRITES_LAZY = 0,
  // At the write.
  CORECAST_TM_WRITES_EAGER = 1,
} corecast_tm_writes;

// How the sender of a ump channel learns which slots the receiver has read.
typedef enum {
  // The receiver counts them on a line of its own. Messages of any length; the better one between sockets.
  CORECAST_UMP_CREDIT_ACK_LINE = 0,
  // The receiver clears each slot. Messages of up to 56 bytes only; the better one within a last-level cache.
  CORECAST_UMP_CREDIT_SLOT_CLEAR = 1,
} corecast_ump_credit;

// How the ends of a channel wait for each other.
typedef enum {
  // Spin for 50 us at most, yield a few times, then sleep; does not spin where participants share CPUs.
  CORECAST_WAIT_ADAPTIVE = 0,
  // Spin for ever. The fastest if every participant has a CPU of its own, and ruinous if they share CPUs.
  CORECAST_WAIT_SPIN = 1,
  // Give up the CPU after every look, never sleep. Uses all idle CPU time.
  CORECAST_WAIT_YIELD = 2,
  // Sleep at once. Uses the least CPU time, and is slow: a wake-up costs 10 to 40 us.
  CORECAST_WAIT_PARK = 3,
} corecast_wait;

// A member of a group that receives the root's events, passes them on and acknowledges them. One thread at a time uses it.
//
// All this happens within its calls, so others wait for a member that does not call. Use it until the broadcast is over:
// closing it before makes the group fail.
typedef struct corecast_ack_follower corecast_ack_follower;

// The member of a group that publishes events to all others, and learns which events they have acknowledged. One thread at
// a time uses it.
//
// Its room in the group's memory stays taken for as long as the group lives.
typedef struct corecast_ack_root corecast_ack_root;

// One member's end of a stream of events from any member, which all deliver in one order. One thread at a time uses it.
//
// All members open it together, and end it together. A member takes in, passes on and delivers within its calls only, and
// keeps 64 events: a member that makes no call for long stops the stream. The delivering function makes no call with this
// stream, and neither throws nor jumps; it may use the bytes until it returns.
typedef struct corecast_atomic_stream corecast_atomic_stream;

// This process's part of a group over several machines. Any thread may use it.
typedef struct corecast_cluster corecast_cluster;

// The member of a group that makes proposals, while all others are participants. One thread at a time uses it.
//
// A proposal is committed if all vote for it in time; otherwise no member applies it. Its room in the group's memory stays
// taken for as long as the group lives.
typedef struct corecast_commit_coordinator corecast_commit_coordinator;

// A member of a group that votes on what the coordinator proposes. One thread at a time uses it.
typedef struct corecast_commit_participant corecast_commit_participant;

// The receiving end of a ff channel. One thread at a time uses it.
typedef struct corecast_ff_receiver corecast_ff_receiver;

// The sending end of a ff channel. One thread at a time uses it.
typedef struct corecast_ff_sender corecast_ff_sender;

// A fixed number of members that communicate along trees planned for this machine. Any thread may use it.
typedef struct corecast_group corecast_group;

// A receiving end of a mcast channel. One thread at a time uses it. Several messages can be open at a time, and are
// released in any order; while a reliable reader has one open nothing is written there, so that senders wait for it in
// the end.
typedef struct corecast_mcast_receiver corecast_mcast_receiver;

// A sending end of a mcast channel. One thread at a time uses it. Any call but those that commit takes a reservation back.
typedef struct corecast_mcast_sender corecast_mcast_sender;

// One participant of a group. One thread at a time uses it.
//
// All members call the same operations, with the same roots, lengths and types, in the same order. An operation that
// returns CORECAST_LOST leaves the group failed, for all members: one has panicked, died, left while others waited for it,
// or called another operation; corecast_member_lost says which member.
//
// An object made of a member - a coordinator, a participant of commits, a stream, an end of an acknowledged broadcast, a
// started operation - has the member's place in the group until it is closed. Meanwhile the member's own operations return
// CORECAST_INVALID_ARGUMENT.
typedef struct corecast_member corecast_member;

// One mapping of shared memory and this participant's place in it. Any number of threads may use it at a time. It may be
// closed before the ends of its channels, which keep the memory and the place.
//
// **A promise.** Messages are pointers into this memory. The caller that makes or opens a region promises that in every
// process which attaches to it only this library writes there. A process that writes there otherwise can change messages
// while they are read; it cannot make the library itself go astray.
//
// **Fork.** A child gets CORECAST_FORKED from every call with an inherited object, and attaches anew. It may close the
// inherited objects, which disturbs nobody. Messages and rooms that were open at the fork are not in the child's memory,
// and it neither touches nor commits them.
typedef struct corecast_region corecast_region;

// The channels and locks of a region that is to be made, in the order of their declaration. One thread at a time uses it.
// Their names are 1 to 63 bytes of A-Z, a-z, 0-9, '.', '_' and '-', no leading dot.
typedef struct corecast_region_plan corecast_region_plan;

// One member of a group: a replica of the state. Any number of threads may use it at a time. Its sessions keep it when it is
// closed.
typedef struct corecast_replica corecast_replica;

// Bytes that a function of the caller's writes, with corecast_replica_output_write.
typedef struct corecast_replica_output corecast_replica_output;

// A session of one thread at a time. Its requests are numbered from 1, so that one that is sent again is not done again. Up to
// 16 may be without a result.
typedef struct corecast_replica_session corecast_replica_session;

// A lock that many threads may hold as readers at a time, or one thread as the writer.
//
// Take it where reads are many, and long enough that readers would wait for each other; otherwise a corecast_lock is faster.
//
// A thread that writes gets CORECAST_INVALID_ARGUMENT if it asks for the lock again, and so does a thread that ends a writer it
// is not. Not checked: a reader that asks to write waits for itself, and for ever. A lock whose reader or writer never ends is
// held for ever.
typedef struct corecast_rw_lock corecast_rw_lock;

// The receiving ends of many channels, of any kinds, up to 4096. One thread at a time uses it. One message is open at a
// time: receiving the next one releases it. No channel starves; there is no order among channels.
typedef struct corecast_select corecast_select;

// A lock among processes, for the threads of this one. It guards whatever its users agree on, such as bytes of another
// mapping.
//
// Take word. It records its holder: if that process is killed, or leaves the region while it holds the lock, one of the
// waiting threads gets CORECAST_OWNER_DIED, a tenth of a second later at most. **It has the lock then**, repairs the data
// that the dead holder left half changed, and unlocks; from then on the lock is like any other. If the thread is killed
// before that, the next one gets CORECAST_OWNER_DIED too. With tas, ttas and ticket a dead holder holds the lock for ever.
//
// The thread that locked it unlocks it, with the same object: unlocking a lock that this thread does not hold, and locking
// one that it holds, is CORECAST_INVALID_ARGUMENT and changes nothing. Another object of the same lock does not know of
// it: a thread that holds the lock by one object and locks it by another waits for ever, so open a lock once in each
// process. When a thread ends, its locks stay held for as long as its process has a place in the region. A process that
// writes nonsense into the region can make a lock have two holders, or none for ever, but nothing worse: wait with limits
// where that matters.
typedef struct corecast_shared_lock corecast_shared_lock;

// An operation that a member has started. One thread at a time uses it.
//
// This member's part in it happens only while it is inside one of the calls that finish it. After a member has started an
// operation it may only finish it, or leave: if it closes the operation before, it can do nothing else, and its leaving
// makes the group fail. The memory that the call may write to - `data`, `numbers`, `gathered`, `own`, `values` - belongs
// to the operation until it is finished, and then holds the result, or until it is closed.
//
// An operation that some members start, or give a limit, may be a plain one for others. Members that give different
// lengths get CORECAST_LOST, as from the plain ones.
typedef struct corecast_started corecast_started;

// An instance of transactional memory. Any number of threads may use it at a time. Its participants and servers keep it when it
// is closed.
typedef struct corecast_tm corecast_tm;

// A participant that runs transactions, for one thread at a time.
typedef struct corecast_tm_participant corecast_tm_participant;

// A participant that decides conflicts and runs no transactions.
typedef struct corecast_tm_server corecast_tm_server;

// One attempt of a transaction: for the body that got it, until that returns.
typedef struct corecast_tx corecast_tx;

// The receiving end of a ump channel. One thread at a time uses it. One message is open at a time: receiving the next one
// releases it.
typedef struct corecast_ump_receiver corecast_ump_receiver;

// The sending end of a ump channel. One thread at a time uses it.
typedef struct corecast_ump_sender corecast_ump_sender;

// A participant of a region.
typedef struct {
  // The number of its place.
  uint32_t index;
  // Counts the participants that have had that place, from 1.
  uint32_t generation;
  // The number of its process, in its own namespace, as it reports it.
  uint32_t pid;
  // Whether it is there.
  corecast_liveness liveness;
} corecast_participant;

// How a ump channel is laid out and waits. Set `size` to sizeof(corecast_ump_config), all else to 0, and then the fields
// that matter; NULL stands for all zeroes.
typedef struct {
  // sizeof(corecast_ump_config).
  size_t size;
  // Slots of 64 bytes, at most 2^20; rounded up to a power of two. 0: 64, for low latency; 1024 suits streams.
  uint32_t slots;
  // A corecast_ump_credit.
  uint32_t credit;
  // The longest message that will be sent, in bytes: the ring is made so large that it takes no more than a quarter of
  // it. 0: the length that a quarter of the slots takes.
  uint64_t longest_bytes;
  // A corecast_wait: how both ends wait.
  uint32_t wait;
  // 0.
  uint32_t reserved;
  // The cost of sleeping and waking up on this machine, in nanoseconds. 0: not known.
  uint64_t wake_cost_ns;
} corecast_ump_config;

// A received message, aligned to 8 bytes. It stays where it is, and as it is, until it is released.
typedef struct {
  // Its bytes; not to be read if there are none.
  const void *data;
  // How many there are.
  size_t len;
  // Which of the open messages of its receiver it is. For the library.
  uint64_t number;
} corecast_message;

// How a ff channel is laid out and waits. Set `size` to sizeof(corecast_ff_config), all else to 0, and then the fields
// that matter; NULL stands for all zeroes.
typedef struct {
  // sizeof(corecast_ff_config).
  size_t size;
  // Words that the channel holds, at most 2^23; rounded up to a power of two, to at least 32. 0: 1024.
  uint32_t cells;
  // A corecast_ff_probe.
  uint32_t probe;
  // If not 0, the receiver takes whole lines of 8 words, and a part of a line when the sender flushes or leaves, or
  // after this number of nanoseconds. 0: words as soon as they are there.
  uint64_t slip_ns;
  // A corecast_wait: how both ends wait.
  uint32_t wait;
  // 0.
  uint32_t reserved;
  // The cost of sleeping and waking up on this machine, in nanoseconds. 0: not known.
  uint64_t wake_cost_ns;
} corecast_ff_config;

// How a mcast channel is laid out, delivers and waits. Set `size` to sizeof(corecast_mcast_config), all else to 0, and
// then the fields that matter; NULL stands for all zeroes.
typedef struct {
  // sizeof(corecast_mcast_config).
  size_t size;
  // The number of messages that the ring holds, at most 2^20; rounded up to a power of two. 0: 64.
  uint32_t slots;
  // Bytes of a message that lie in the slot itself: 48, 112 or 240; rounded up to one of these. 0: 48.
  uint32_t inline_bytes;
  // The longest message in bytes, at most 1 GiB. Longer ones than `inline_bytes` lie in blocks of this size, of which
  // there is one per slot and one per sender. 0: what lies in a slot.
  uint64_t longest_bytes;
  // Readers at a time, at most 1024. 0: 64.
  uint32_t readers;
  // Senders at a time, at most 256. 0: 1, which sends without any atomic read-modify-write.
  uint32_t senders;
  // A corecast_mcast_delivery.
  uint32_t delivery;
  // A corecast_mcast_zero_readers.
  uint32_t zero_readers;
  // A corecast_wait: how all ends wait.
  uint32_t wait;
  // 0.
  uint32_t reserved;
  // The cost of sleeping and waking up on this machine, in nanoseconds. 0: not known.
  uint64_t wake_cost_ns;
} corecast_mcast_config;

// How a group is made. Set `size` to sizeof(corecast_group_config), all else to 0, and then the fields that matter; NULL
// stands for all zeroes.
typedef struct {
  // sizeof(corecast_group_config).
  size_t size;
  // The number of members, at most 4096. 0: one for each CPU that this process may use.
  uint32_t members;
  // A corecast_wait: how members wait.
  uint32_t wait;
  // 1 to bind the thread of each member to the CPU that the group is planned for: a thread of this process at the first
  // operation of the member, a member of processes when it joins. The thread stays bound. 0: threads run where they may.
  uint32_t pin;
  // 0.
  uint32_t reserved;
  // A plan file, as `corecast plan --json` writes one: its tree carries all operations. It has to be a tree over the CPUs
  // of the members, the first ones that this process may use, one for each member. NULL: the library plans.
  const char *plan;
} corecast_group_config;

// How this node takes part in a group over several machines. Set `size` to sizeof(corecast_cluster_config), all else to 0, and
// then the fields that matter; NULL stands for all zeroes.
typedef struct {
  // sizeof(corecast_cluster_config).
  size_t size;
  // The number of members on this node, at most 4096, which are threads of this process. 0: one for each CPU that this process
  // may use. No matter in a process that `corecast run` has started.
  uint32_t members;
  // A corecast_wait: how members wait that do not lead their node.
  uint32_t wait;
  // The most time in nanoseconds to wait for the other nodes, and members of this one. 0: as long as the environment says
  // (CORECAST_MPI_TIMEOUT), else 60 s.
  uint64_t timeout_ns;
} corecast_cluster_config;

// The nodes and members of a group.
typedef struct {
  // How many nodes there are.
  uint32_t nodes;
  // This member's node, from 0.
  uint32_t node;
  // How many members this node has.
  uint32_t members_here;
  // The member's rank among them; member 0 leads.
  uint32_t rank_here;
} corecast_cluster_place;

// The result for a member of a failed group that goes on with the remaining members.
typedef struct {
  // Its rank in the group that failed.
  uint32_t old_rank;
  // How many members of the failed group are not in the new one.
  uint32_t gone;
  // How many operations this member has completed there.
  uint64_t completed;
  // The largest such number among the members of the new group: a member with fewer has to get the difference from one
  // of them.
  uint64_t highest;
} corecast_shrunk;

// A function that combines two values: it leaves the combination of both in `accumulator`, the left one. It makes no call
// with the member, and neither throws nor jumps; it may use the values until it returns.
typedef void (*corecast_combine)(void *context, void *accumulator, const void *operand);

// How values of the caller's own are combined; all members give the same, but for `context`. Set `size` to
// sizeof(corecast_combination), all else to 0, and then the fields that matter.
//
// The combination has to be associative, up to rounding. Values must mean the same in every process: no pointers.
typedef struct {
  // sizeof(corecast_combination).
  size_t size;
  // The sizeof of a value, 1 to 504.
  uint32_t value_bytes;
  // 1 if operands may change places, up to rounding: members combine values on the way, in the order of the plan. 0 if
  // not: all values travel to one member, which combines them by rank, in the same bracketing under every plan.
  uint32_t commutes;
  // The function. Its values are aligned as elements of an array are.
  corecast_combine combine;
  // Passed to the function as it is.
  void *context;
} corecast_combination;

// A function that delivers an event: its number, the rank of the member that published it, its bytes.
typedef void (*corecast_deliver)(void *context, uint64_t number, uint32_t origin, const void *data, size_t len);

// How an acknowledged broadcast is done; all members give the same. Set `size` to sizeof(corecast_ack_config), all else to
// 0, and then the fields that matter; NULL stands for all zeroes.
typedef struct {
  // sizeof(corecast_ack_config).
  size_t size;
  // The longest event in bytes, at most 4088. 0: 48. Up to 48 bytes travel in one cache line, up to 496 in eight.
  uint32_t longest_bytes;
  // The rank that publishes.
  uint32_t root;
  // A corecast_ack_variant.
  uint32_t variant;
  // A corecast_ack_edges.
  uint32_t edges;
  // The number of members to which one member passes an event on, at most 4096. 0: 2.
  uint32_t arity;
  // The number of events that may be on their way, at most 4096. 0: 128.
  uint32_t window;
  // A corecast_ack_on.
  uint32_t ack_on;
  // 1 if one member of a ring gathers in the root's place, so that the root hears one message of each event; else 0.
  uint32_t companion;
} corecast_ack_config;

// A function that processes an event: its number, its bytes.
typedef void (*corecast_process)(void *context, uint64_t number, const void *data, size_t len);

// A lock. All zeroes are a free lock of the algorithm auto, so a lock in zeroed memory, such as a static one, needs no
// corecast_lock_create. It lies where its user puts it, aligned to its size; while no thread waits for it, it may be
// moved.
//
// The thread that locked it unlocks it. Wrong use returns CORECAST_INVALID_ARGUMENT, with a message, and changes nothing:
// locking a lock that this thread holds; unlocking one that it does not hold; using a lock that was destroyed; an address
// that is not aligned.
//
// Not checked: memory that never was a lock, if it happens to look like one; a lock in memory that is freed; creating a
// lock, or destroying it, while others use it or wait for it. A lock whose holder ends without unlocking it is held for
// ever. A lock in memory that processes share serves the threads of one of them. A child of fork() holds the locks that
// the forking thread held, and must not use locks that other threads held then.
typedef struct CORECAST_ALIGNED(64) {
  // For the library.
  uint64_t opaque[8];
} corecast_lock;

// Statistics of a lock of the algorithm auto.
typedef struct {
  // A corecast_lock_mode: how its threads wait now.
  uint32_t mode;
  // How often the mode has changed.
  uint32_t switches;
  // How often a thread had to wait for it, modulo 2^32.
  uint64_t waits;
} corecast_lock_stats;

// A condition variable. All zeroes are a variable without waiting threads; it has nothing to destroy. It lies where its
// user puts it, among the threads of one process, and must not be moved or freed while a thread is in a call with it.
//
// It goes with locks whose threads sleep: auto, word, byte and qword; others are CORECAST_INVALID_ARGUMENT. One variable
// may serve several locks. A notification wakes threads that wait at that moment, and is not kept for later ones. A thread
// need not hold the lock to notify, but it must hold it while it changes the state that others wait for.
typedef struct {
  // For the library.
  uint64_t opaque[2];
} corecast_condvar;

// A reader of a corecast_rw_lock, from the call that begins it to the call that ends it. It lies where its user puts it, such as
// on the stack of the thread that reads.
typedef struct {
  // For the library.
  uint64_t opaque[2];
} corecast_rw_reader;

// How a group is laid out, and how a node of it behaves. Set `size` to sizeof(corecast_replica_config), all else to 0, and then
// the fields that matter; NULL stands for all zeroes. The group has the slots, window, bulk_bytes and placement of its creator;
// those of nodes that attach are not looked at.
typedef struct {
  // sizeof(corecast_replica_config).
  size_t size;
  // The most nodes at a time, 1 to 1,023. 0: 16.
  uint32_t slots;
  // A corecast_replica_placement.
  uint32_t placement;
  // The commands in the log, a power of two from 256 to 2^24. 0: 16,384.
  uint64_t window;
  // The bytes at each node for operations over 32 bytes, 4096 to 2^31; the largest operation has as many, and at most 16 MiB
  // and 64 KiB. 0: 32 MiB.
  uint64_t bulk_bytes;
  // A corecast_wait: how threads of this node wait. CORECAST_WAIT_SPIN is refused.
  uint32_t wait;
  // A corecast_replica_fsync, for `folder`.
  uint32_t fsync;
  // The shortest time without a sign of life after which a node with work counts as stuck. 0: 2 ms, longer on crowded
  // machines.
  uint64_t patience_ns;
  // The longest time that attaching may take. 0: 10 s.
  uint64_t joining_ns;
  // A folder that all nodes of the group share and no other group uses: every operation and snapshots are kept there, and the
  // node that makes the group starts from them. NULL: the state is in memory alone, and ends with its last process.
  const char *folder;
  // The bytes by which the log in `folder` grows between two snapshots, 4096 to 2^40. 0: 64 MiB.
  uint64_t snapshot_every;
  // A file with the model of the machine, or "" for this machine, which is discovered then. Members whose threads are bound to
  // CPUs hear of decisions along a tree that is planned for it, and leader and acceptor move to where the plan wants them.
  // NULL: the machine is not known.
  const char *machine;
} corecast_replica_config;

// Applies an operation, which stands at `index` of the log, and writes its result. Returns 0; another number if this replica
// cannot go on: it then leaves, and if all replicas fail at the same operation, the group stops with CORECAST_POISONED.
typedef int (*corecast_replica_apply)(void *state,
                                      uint64_t index,
                                      const void *op,
                                      size_t len,
                                      corecast_replica_output *result);

// Answers a question. Returns 0; another number to make the read fail with CORECAST_INVALID_ARGUMENT.
typedef int (*corecast_replica_query)(const void *state,
                                      const void *question,
                                      size_t len,
                                      corecast_replica_output *answer);

// 128 bits that are equal where states are equal, and differ, with overwhelming probability, where they differ.
typedef struct {
  // The lower half.
  uint64_t low;
  // The upper half.
  uint64_t high;
} corecast_replica_digest;

// The digest of the state.
typedef corecast_replica_digest (*corecast_replica_digest_of)(const void *state);

// Writes the whole state.
typedef void (*corecast_replica_snapshot)(const void *state, corecast_replica_output *to);

// Makes the state the one of a snapshot. Returns 0; another number if the bytes are no state.
typedef int (*corecast_replica_restore)(void *state, const void *snapshot, size_t len);

// A deterministic state machine: the same operations in the same order give the same state and the same results. Clock values
// and random numbers have to arrive inside the operation. Set `size` to sizeof(corecast_replica_machine), and all else but
// `kind`, which may be NULL.
//
// The functions are called by threads of the library, too. `apply` and `restore` have the state to themselves; `query`,
// `digest` and `snapshot` may run in several threads at a time. None of them throws, jumps, or calls anything with the
// replica. The state is used until the replica and all its sessions are closed.
typedef struct {
  // sizeof(corecast_replica_machine).
  size_t size;
  // The state: passed to the functions as it is.
  void *state;
  // Applies an operation.
  corecast_replica_apply apply;
  // Answers a question.
  corecast_replica_query query;
  // The digest of the state.
  corecast_replica_digest_of digest;
  // Writes the state.
  corecast_replica_snapshot snapshot;
  // Reads it.
  corecast_replica_restore restore;
  // A text that names the kind of state, such as "counter 2": a replica joins only a group whose creator gave the same one,
  // and gets CORECAST_MISMATCH elsewhere. So programs with different states, or versions of them, are told apart. NULL stands
  // for "". Not used after the call.
  const char *kind;
} corecast_replica_machine;

// How a replica and its group are. Nodes are numbers that no other node of the group ever has.
typedef struct {
  // sizeof(corecast_replica_status), set by the caller: later versions may add fields.
  size_t size;
  // This node.
  uint32_t node;
  // The node that leads.
  uint32_t leader;
  // The node that accepts.
  uint32_t acceptor;
  // The number of the configuration, from 0; one more with each change of a role.
  uint32_t epoch;
  // The number of members.
  uint32_t members;
  // 1 while this node is one of them.
  uint32_t is_member;
  // The number of operations and commands of the group that this replica has applied.
  uint64_t applied;
  // The number of those that it knows to be decided.
  uint64_t commit;
  // The number of those that all members have applied.
  uint64_t stable;
  // The number of those whose effect anyone may have seen.
  uint64_t visible;
  // The number of configurations that this node has seen come.
  uint64_t role_changes;
  // The number of times that it came back by a snapshot.
  uint64_t rejoins;
  // The time without a sign of life after which this node holds one with work for stuck, at the moment, in nanoseconds.
  uint64_t patience_ns;
} corecast_replica_status;

// A consistent cut through the group.
typedef struct {
  // The number of operations and commands of the group that the cut shows.
  uint64_t index;
  // The bytes that were written.
  uint64_t bytes;
  // The members that have told their digests, this one included.
  uint32_t answers;
  // Those whose digest is not that of most, and which are put out; of two members, the other one if it differs, which stays.
  uint32_t diverged;
} corecast_replica_checkpoint;

// The result of an operation. Its bytes stay where they are until the next call with the session.
typedef struct {
  // Its bytes; not to be read if there are none.
  const void *data;
  // How many there are.
  size_t len;
  // The place of the operation in the log.
  uint64_t index;
} corecast_replica_result;

// The choices of an instance. Set `size` to sizeof(corecast_tm_config), all else to 0, and then the fields that matter; NULL
// stands for all zeroes.
typedef struct {
  // sizeof(corecast_tm_config).
  size_t size;
  // The participants, servers among them, at most 1,024. 0: one for each CPU, and at least two.
  uint32_t participants;
  // The distance of two servers, from participant 0 on: 2 to the number of participants. 0: 3. The shared form has no servers.
  uint32_t servers_every;
  // A corecast_tm_manager.
  uint32_t manager;
  // A corecast_tm_form.
  uint32_t form;
  // A corecast_tm_writes.
  uint32_t writes;
  // A corecast_tm_values.
  uint32_t values;
  // The number of words. 0: 65,536.
  uint64_t words;
  // A corecast_wait: how participants wait for each other.
  uint32_t wait;
  // 1: a commit asks for one word by one message, instead of up to ten.
  uint32_t is_unbatched;
  // The most values of one transaction that others can complete when its process is killed while it stores them; a larger one
  // poisons the instance then. 0: 1,024.
  uint32_t log_entries;
  // 2 to the power of this number of neighbouring words lie at one server.
  uint32_t neighbours;
  // A corecast_lock_algorithm: the lock of the buckets of the shared form. 0: auto among threads, word among processes, where
  // no other one survives its holder.
  uint32_t lock;
  // 0: room for a later field.
  uint32_t reserved;
} corecast_tm_config;

// The body of a transaction. Returns 0 to commit, and another number to give up, so that nothing is written. It must return once
// an access has returned CORECAST_ABORTED; what it returns then does not matter. It may be called several times.
typedef int (*corecast_tm_body)(corecast_tx *tx, void *context);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// A status in a word or two; "unknown" for a number that is none. The text is constant: do not free it.
const char *corecast_status_name(int32_t status);

// The message of the last call of this thread that did not return CORECAST_OK; "" before the first such call. Copies
// at most `size` bytes to `buffer`, which may be NULL if `size` is 0; the text always ends with a zero byte, and is
// cut if the buffer is too small. Returns the length of the whole text without the zero byte, as snprintf does.
size_t corecast_error_message(char *buffer,
                              size_t size);

// A plan of no channels and 64 participants.
corecast_status corecast_region_plan_create(corecast_region_plan **plan);

// Destroys a plan; NULL is none. Regions made by it stay.
void corecast_region_plan_destroy(corecast_region_plan *plan);

// Lets `count` processes and threads attach at a time, 1 to 1280.
corecast_status corecast_region_plan_set_participants(corecast_region_plan *plan, uint32_t count);

// Lets the region grow to `bytes` bytes instead of 1 GiB.
corecast_status corecast_region_plan_set_limit(corecast_region_plan *plan, uint64_t bytes);

// Asks for huge pages; where there are none, the region has small ones.
corecast_status corecast_region_plan_set_huge_pages(corecast_region_plan *plan);

// How large the region will be, in bytes. CORECAST_INVALID_ARGUMENT if that is beyond the limit.
corecast_status corecast_region_plan_total_bytes(const corecast_region_plan *plan, uint64_t *bytes);

// A region for the threads of this process. CORECAST_SYSTEM if there is no memory for all of it.
corecast_status corecast_region_create_heap(const corecast_region_plan *plan, corecast_region **region);

// A region without a name, for processes that get its descriptor: see corecast_region_share_fd, and for processes that
// know a name corecast_region_host.
corecast_status corecast_region_create_memfd(const corecast_region_plan *plan,
                                             corecast_region **region);

// A region with a name in a directory: NULL for this user's own, which is $CORECAST_REGION_DIR, else
// /dev/shm/corecast-UID. Names are 1 to 200 bytes of A-Z, a-z, 0-9, '.', '_' and '-', no leading dot. The last
// participant takes the name away. CORECAST_EXISTS if a living process uses a region of this name.
corecast_status corecast_region_create_named(const char *directory,
                                             const char *name,
                                             const corecast_region_plan *plan,
                                             corecast_region **region);

// Attaches to the region that was made with this name in this directory. CORECAST_NOT_FOUND if there is none,
// CORECAST_TAKEN if all its places are taken, CORECAST_CLOSED if its last participant has left, CORECAST_MISMATCH if
// it is not to be trusted: of another owner, version or boot, too open to others, or damaged.
corecast_status corecast_region_open_named(const char *directory,
                                           const char *name,
                                           corecast_region **region);

// A region without a name in a file system, which other processes of this user find by a name with
// corecast_region_connect, as long as one process that has hosted or found it by that name is there and has not closed
// it. The name is that of a socket in a directory; NULL for this user's own, which is $XDG_RUNTIME_DIR/corecast, else
// /run/user/UID/corecast, else corecast-UID in $TMPDIR or /tmp. It is of the same bytes as that of
// corecast_region_create_named, but shorter: the path of the socket, DIRECTORY/NAME.sock, has at most 103. A thread of
// the library answers. CORECAST_EXISTS if a living process hosts this name.
corecast_status corecast_region_host(const char *directory,
                                     const char *name,
                                     const corecast_region_plan *plan,
                                     corecast_region **region);

// Attaches to the region that is hosted under this name. If its host ends, this or another process goes on hosting it.
// CORECAST_NOT_FOUND if no process hosts the name, CORECAST_TIMEOUT if the host does not answer within seconds;
// otherwise fails as corecast_region_open_named does.
corecast_status corecast_region_connect(const char *directory,
                                        const char *name,
                                        corecast_region **region);

// A new descriptor of the region, to be sent to one other process (by SCM_RIGHTS, or inherited over exec after clearing
// FD_CLOEXEC), which gives it to corecast_region_open_fd. Close it here once it is sent. CORECAST_SYSTEM for a region on
// the heap.
corecast_status corecast_region_share_fd(const corecast_region *region,
                                         int *fd);

// Attaches to the region behind a descriptor, which stays the caller's and may be closed afterwards. Fails as
// corecast_region_open_named does.
corecast_status corecast_region_open_fd(int fd, corecast_region **region);

// Closes a region; NULL is none. The place in it is given up when the ends of its channels are closed too.
void corecast_region_close(corecast_region *region);

// The participants that have a place in the region; a dead one is listed until a participant takes note of its death.
// Writes at most `capacity` of them to `participants`, which may be NULL if `capacity` is 0, and their number to
// `count`.
corecast_status corecast_region_participants(const corecast_region *region,
                                             corecast_participant *participants,
                                             size_t capacity,
                                             size_t *count);

// Whether the participant with this index and generation, from corecast_region_participants, is there. Works too after
// another participant took note of its death, and when another one has its place.
corecast_status corecast_region_liveness(const corecast_region *region,
                                         uint32_t index,
                                         uint32_t generation,
                                         corecast_liveness *liveness);

// Lets children forked from now on use the region. Parent and child are one participant then, and must agree which of
// them uses which channel; the participant lives until both have ended.
corecast_status corecast_region_inherit_on_fork(const corecast_region *region);

// Takes away the named regions of a directory (NULL for this user's own) of which no participant lives, and writes
// their number to `count`, which may be NULL.
corecast_status corecast_region_gc(const char *directory,
                                   size_t *count);

// Takes away the sockets of a directory (NULL for this user's own) whose hosts have died and that no process took
// over, and writes their number to `count`, which may be NULL.
corecast_status corecast_region_gc_hosted(const char *directory,
                                          size_t *count);

// Declares a ump channel.
corecast_status corecast_region_plan_add_ump(corecast_region_plan *plan,
                                             const char *name,
                                             const corecast_ump_config *config);

// A ump channel among two threads of this process. For one among processes, declare it in the plan of a region.
corecast_status corecast_ump_create(const corecast_ump_config *config,
                                    corecast_ump_sender **sender,
                                    corecast_ump_receiver **receiver);

// Opens the sending end of the channel with this name. If the last sender's process died, this one goes on behind the last
// message that was sent. CORECAST_TAKEN if another one has it, CORECAST_CLOSED if one end has said goodbye,
// CORECAST_NOT_FOUND if there is no such channel, CORECAST_MISMATCH if it is of another kind.
corecast_status corecast_ump_sender_open(const corecast_region *region,
                                         const char *name,
                                         corecast_ump_sender **sender);

// Closes the end; NULL is none. The receiver gets what was sent, and then CORECAST_CLOSED.
void corecast_ump_sender_close(corecast_ump_sender *sender);

// The longest message that the channel takes, in bytes.
corecast_status corecast_ump_sender_longest(corecast_ump_sender *sender, size_t *bytes);

// Sends a copy of `len` bytes, waiting for room. CORECAST_TOO_LARGE if the channel takes no message of this length,
// CORECAST_CLOSED if the receiver has said goodbye, CORECAST_DIED if its process is gone.
corecast_status corecast_ump_sender_send(corecast_ump_sender *sender,
                                         const void *data,
                                         size_t len);

// The same without waiting: CORECAST_FULL if there is no room.
corecast_status corecast_ump_sender_try_send(corecast_ump_sender *sender, const void *data, size_t len);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_ump_sender_send_timeout_ns(corecast_ump_sender *sender,
                                                    const void *data,
                                                    size_t len,
                                                    uint64_t timeout_ns);

// Room for a message of `len` bytes where the receiver will read it, waiting for it. Write there, then commit or abort;
// any other call with this sender aborts. At first the room holds what was left there. Fails as corecast_ump_sender_send.
corecast_status corecast_ump_sender_reserve(corecast_ump_sender *sender,
                                            size_t len,
                                            void **data);

// The same without waiting: CORECAST_FULL if there is no room.
corecast_status corecast_ump_sender_try_reserve(corecast_ump_sender *sender, size_t len, void **data);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_ump_sender_reserve_timeout_ns(corecast_ump_sender *sender,
                                                       size_t len,
                                                       uint64_t timeout_ns,
                                                       void **data);

// Sends the message that was reserved and written. CORECAST_INVALID_ARGUMENT if none is.
corecast_status corecast_ump_sender_commit(corecast_ump_sender *sender);

// Takes the reservation back, if there is one: nothing is sent.
corecast_status corecast_ump_sender_abort(corecast_ump_sender *sender);

// Opens the receiving end of the channel with this name: once in the life of a channel. CORECAST_TAKEN if another one has
// it, CORECAST_DIED if that one died, CORECAST_CLOSED if it has said goodbye, CORECAST_NOT_FOUND if there is no such
// channel, CORECAST_MISMATCH if it is of another kind.
corecast_status corecast_ump_receiver_open(const corecast_region *region,
                                           const char *name,
                                           corecast_ump_receiver **receiver);

// Closes the end; NULL is none. Its open message is released, and sends fail with CORECAST_CLOSED.
void corecast_ump_receiver_close(corecast_ump_receiver *receiver);

// Receives, waiting for a message. CORECAST_CLOSED or CORECAST_DIED once everything sent has been received and the sender
// has said goodbye, or its process is gone.
corecast_status corecast_ump_receiver_recv(corecast_ump_receiver *receiver,
                                           corecast_message *message);

// The same without waiting: CORECAST_EMPTY if nothing is there.
corecast_status corecast_ump_receiver_try_recv(corecast_ump_receiver *receiver, corecast_message *message);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_ump_receiver_recv_timeout_ns(corecast_ump_receiver *receiver,
                                                      uint64_t timeout_ns,
                                                      corecast_message *message);

// Releases the open message, if there is one: the sender may write there again.
corecast_status corecast_ump_receiver_release(corecast_ump_receiver *receiver);

// Hands up to `max` messages that are there to `each`, and writes their number to `count`; the sender learns once that
// they have been read. A message is released when `each` returns. `each` makes no call with this receiver, and neither
// throws nor jumps.
corecast_status corecast_ump_receiver_drain(corecast_ump_receiver *receiver,
                                            size_t max,
                                            void (*each)(void *context, const corecast_message *message),
                                            void *context,
                                            size_t *count);

// Declares a ff channel.
corecast_status corecast_region_plan_add_ff(corecast_region_plan *plan,
                                            const char *name,
                                            const corecast_ff_config *config);

// A ff channel among two threads of this process. For one among processes, declare it in the plan of a region.
corecast_status corecast_ff_create(const corecast_ff_config *config,
                                   corecast_ff_sender **sender,
                                   corecast_ff_receiver **receiver);

// Opens the sending end of the channel with this name: once in the life of a channel. Fails as corecast_ump_receiver_open.
corecast_status corecast_ff_sender_open(const corecast_region *region,
                                        const char *name,
                                        corecast_ff_sender **sender);

// Closes the end; NULL is none. The receiver gets what was sent, and then CORECAST_CLOSED.
void corecast_ff_sender_close(corecast_ff_sender *sender);

// Sends a word that is not 0, waiting for room. CORECAST_CLOSED if the receiver has said goodbye, CORECAST_DIED if its
// process is gone.
corecast_status corecast_ff_sender_send(corecast_ff_sender *sender,
                                        uint64_t word);

// The same without waiting: CORECAST_FULL if there is no room.
corecast_status corecast_ff_sender_try_send(corecast_ff_sender *sender, uint64_t word);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_ff_sender_send_timeout_ns(corecast_ff_sender *sender,
                                                   uint64_t word,
                                                   uint64_t timeout_ns);

// Lets the receiver take all that was sent, even if it takes whole lines otherwise.
corecast_status corecast_ff_sender_flush(corecast_ff_sender *sender);

// Opens the receiving end of the channel with this name: once in the life of a channel. Fails as
// corecast_ump_receiver_open.
corecast_status corecast_ff_receiver_open(const corecast_region *region,
                                          const char *name,
                                          corecast_ff_receiver **receiver);

// Closes the end; NULL is none. Sends fail with CORECAST_CLOSED.
void corecast_ff_receiver_close(corecast_ff_receiver *receiver);

// Receives, waiting for a word. CORECAST_CLOSED or CORECAST_DIED once everything sent has been received and the sender has
// said goodbye, or its process is gone.
corecast_status corecast_ff_receiver_recv(corecast_ff_receiver *receiver,
                                          uint64_t *word);

// The same without waiting: CORECAST_EMPTY if nothing is there, also while a part of a line waits for the rest.
corecast_status corecast_ff_receiver_try_recv(corecast_ff_receiver *receiver,
                                              uint64_t *word);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_ff_receiver_recv_timeout_ns(corecast_ff_receiver *receiver,
                                                     uint64_t timeout_ns,
                                                     uint64_t *word);

// Declares a mcast channel.
corecast_status corecast_region_plan_add_mcast(corecast_region_plan *plan,
                                               const char *name,
                                               const corecast_mcast_config *config);

// A mcast channel among the threads of this process, of up to 1 GiB, by its first sender; further ends come from that. For
// one among processes, declare it in the plan of a region.
corecast_status corecast_mcast_create(const corecast_mcast_config *config,
                                      corecast_mcast_sender **sender);

// Opens a sending end of the channel with this name. CORECAST_TAKEN if it takes no more senders, CORECAST_NOT_FOUND if
// there is no such channel, CORECAST_MISMATCH if it is of another kind.
corecast_status corecast_mcast_sender_open(const corecast_region *region,
                                           const char *name,
                                           corecast_mcast_sender **sender);

// One more sender of the same channel. CORECAST_TAKEN if it takes no more.
corecast_status corecast_mcast_sender_clone(corecast_mcast_sender *sender, corecast_mcast_sender **other);

// A reader of what is sent from now on, with a corecast_mcast_policy; `deadline_ns` matters only for
// CORECAST_MCAST_POLICY_DEADLINE. CORECAST_TAKEN if the channel takes no more, CORECAST_PANIC if it never overwrites
// and the policy is not the reliable one.
corecast_status corecast_mcast_sender_subscribe(corecast_mcast_sender *sender,
                                                uint32_t policy,
                                                uint64_t deadline_ns,
                                                corecast_mcast_receiver **receiver);

// Closes the end; NULL is none. When it was the last one, the readers get what was sent, and then CORECAST_CLOSED.
void corecast_mcast_sender_close(corecast_mcast_sender *sender);

// The longest message that the channel takes, in bytes.
corecast_status corecast_mcast_sender_longest(corecast_mcast_sender *sender, size_t *bytes);

// Sends a copy of `len` bytes to all readers, waiting for room. CORECAST_TOO_LARGE if the channel takes no message of this
// length.
corecast_status corecast_mcast_sender_send(corecast_mcast_sender *sender,
                                           const void *data,
                                           size_t len);

// The same without waiting: CORECAST_FULL if there is no room.
corecast_status corecast_mcast_sender_try_send(corecast_mcast_sender *sender, const void *data, size_t len);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_mcast_sender_send_timeout_ns(corecast_mcast_sender *sender,
                                                      const void *data,
                                                      size_t len,
                                                      uint64_t timeout_ns);

// Room for a message of `len` bytes, without waiting. Write there, then commit or abort. Others go on sending meanwhile. At
// first the room holds what was left there. A message of a gated channel that does not fit into a slot is read where it was
// written; others are copied into their slot. CORECAST_TOO_LARGE if the channel takes no message of this length.
corecast_status corecast_mcast_sender_reserve(corecast_mcast_sender *sender,
                                              size_t len,
                                              void **data);

// Sends the message that was reserved and written, waiting for room. CORECAST_INVALID_ARGUMENT if none is.
corecast_status corecast_mcast_sender_commit(corecast_mcast_sender *sender);

// The same without waiting. With CORECAST_FULL the message stays reserved and written, to be committed later.
corecast_status corecast_mcast_sender_try_commit(corecast_mcast_sender *sender);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT, and the message is gone.
corecast_status corecast_mcast_sender_commit_timeout_ns(corecast_mcast_sender *sender, uint64_t timeout_ns);

// Takes the reservation back, if there is one: nothing is sent.
corecast_status corecast_mcast_sender_abort(corecast_mcast_sender *sender);

// Opens a reader of what is sent through the channel with this name from now on, with a corecast_mcast_policy;
// `deadline_ns` matters only for CORECAST_MCAST_POLICY_DEADLINE. CORECAST_TAKEN if it takes no more readers,
// CORECAST_NOT_FOUND if there is no such channel, CORECAST_MISMATCH if it is of another kind,
// CORECAST_INVALID_ARGUMENT if it never overwrites and the policy is not the reliable one.
corecast_status corecast_mcast_receiver_open(const corecast_region *region,
                                             const char *name,
                                             uint32_t policy,
                                             uint64_t deadline_ns,
                                             corecast_mcast_receiver **receiver);

// Closes the end; NULL is none. Its open messages are released, and senders wait for it no more.
void corecast_mcast_receiver_close(corecast_mcast_receiver *receiver);

// Receives, waiting for a message. CORECAST_LAGGED, once, if messages were missed; CORECAST_CLOSED or CORECAST_DIED once
// everything sent has been received and no sender is left.
corecast_status corecast_mcast_receiver_recv(corecast_mcast_receiver *receiver,
                                             corecast_message *message);

// The same without waiting: CORECAST_EMPTY if nothing is there.
corecast_status corecast_mcast_receiver_try_recv(corecast_mcast_receiver *receiver,
                                                 corecast_message *message);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_mcast_receiver_recv_timeout_ns(corecast_mcast_receiver *receiver,
                                                        uint64_t timeout_ns,
                                                        corecast_message *message);

// Releases a message. CORECAST_INVALID_ARGUMENT if it is not open.
corecast_status corecast_mcast_receiver_release(corecast_mcast_receiver *receiver,
                                                const corecast_message *message);

// How many messages this reader has missed in all, as CORECAST_LAGGED reported them.
corecast_status corecast_mcast_receiver_missed(const corecast_mcast_receiver *receiver, uint64_t *count);

// A select without channels, which waits as `wait`, a corecast_wait, says. Channels whose own policy never sleeps
// (spin, yield) want one that does not sleep either.
corecast_status corecast_select_create(uint32_t wait,
                                       corecast_select **select);

// Destroys a select and closes the receivers that were added; NULL is none.
void corecast_select_destroy(corecast_select *select);

// Adds a receiver, which is the select's from now on: do not use or close it any more. `number` is its number in the
// select: 0, 1, ...; numbers of removed receivers are used again. Its open messages are released.
corecast_status corecast_select_add_ump(corecast_select *select,
                                        corecast_ump_receiver *receiver,
                                        uint32_t *number);

// The same for the receiver of a ff channel: its messages are words of 8 bytes.
corecast_status corecast_select_add_ff(corecast_select *select,
                                       corecast_ff_receiver *receiver,
                                       uint32_t *number);

// The same for a reader of a mcast channel.
corecast_status corecast_select_add_mcast(corecast_select *select,
                                          corecast_mcast_receiver *receiver,
                                          uint32_t *number);

// Closes the receiver with this number and takes it out.
corecast_status corecast_select_remove(corecast_select *select, uint32_t number);

// Receives from any channel, waiting until one has a message; `number` is its number. CORECAST_CLOSED, CORECAST_DIED,
// CORECAST_LAGGED and CORECAST_CORRUPT are about the channel with this number; after any of them but CORECAST_LAGGED
// the select skips this channel. CORECAST_NONE_LEFT when it skips all of them.
corecast_status corecast_select_recv(corecast_select *select,
                                     uint32_t *number,
                                     corecast_message *message);

// The same without waiting: CORECAST_EMPTY if nothing is there.
corecast_status corecast_select_try_recv(corecast_select *select,
                                         uint32_t *number,
                                         corecast_message *message);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_select_recv_timeout_ns(corecast_select *select,
                                                uint64_t timeout_ns,
                                                uint32_t *number,
                                                corecast_message *message);

// The same from some channels only: those with the `count` numbers.
corecast_status corecast_select_recv_from_timeout_ns(corecast_select *select,
                                                     const uint32_t *numbers,
                                                     size_t count,
                                                     uint64_t timeout_ns,
                                                     uint32_t *number,
                                                     corecast_message *message);

// Releases the open message, if there is one: its sender may write there again.
corecast_status corecast_select_release(corecast_select *select);

// A descriptor for poll, epoll and event loops, which belongs to the select: do not read or close it. It becomes
// readable after corecast_select_arm when a channel has a message.
corecast_status corecast_select_fd(corecast_select *select,
                                   int *fd);

// Asks for the descriptor to become readable when a channel has a message; call it each time before waiting for the
// descriptor. `is_ready` is true if a channel has one already: receive it and arm again.
corecast_status corecast_select_arm(corecast_select *select,
                                    bool *is_ready);

// Makes a group whose members are threads of this process: discovers the machine and plans its trees, which takes a part of
// a second for large machines, unless `config` names a plan file. CORECAST_NOT_FOUND if that cannot be read,
// CORECAST_INVALID_ARGUMENT if its tree is not over the CPUs of the members.
corecast_status corecast_group_create(const corecast_group_config *config,
                                      corecast_group **group);

// Destroys the group; NULL is none. Its members go on until they leave.
void corecast_group_destroy(corecast_group *group);

// The number of members; 0 for NULL.
uint32_t corecast_group_members(const corecast_group *group);

// Takes the place of the member with this rank, from 0, for the calling thread or a thread that gets the handle.
// CORECAST_TAKEN if another thread has it; CORECAST_LOST if the group has failed.
corecast_status corecast_group_join(const corecast_group *group,
                                    uint32_t rank,
                                    corecast_member **member);

// The CPU that the group is planned for at this rank: where config.pin binds the thread of the member, and where a thread
// that binds itself belongs.
corecast_status corecast_group_cpu(const corecast_group *group,
                                   uint32_t rank,
                                   uint32_t *cpu);

// Becomes the member that `corecast run` started this process as, and waits for the others for at most `timeout_ns`.
// CORECAST_NOT_FOUND if this process was not started so; CORECAST_TIMEOUT if not all came: the message names the
// missing ones.
corecast_status corecast_member_of_run(uint64_t timeout_ns,
                                       corecast_member **member);

// Becomes a member of the group of processes with this name, and waits for the others for at most `timeout_ns`. The
// first process makes the group as its `config` says; the `config` of the others must ask for the same number of
// members. `rank` is the member to become, or -1 for the first free one. CORECAST_TAKEN if another process has been
// that member; CORECAST_TIMEOUT if not all came.
corecast_status corecast_member_of_name(const char *name,
                                        const corecast_group_config *config,
                                        int32_t rank,
                                        uint64_t timeout_ns,
                                        corecast_member **member);

// Leaves the group; NULL is none. Members that wait for this one in an operation that it has not begun get
// CORECAST_LOST. While an object made of it is open, it leaves when that object is closed.
void corecast_member_leave(corecast_member *member);

// Its number, from 0; 0 for NULL.
uint32_t corecast_member_rank(const corecast_member *member);

// The number of members of its group; 0 for NULL.
uint32_t corecast_member_members(const corecast_member *member);

// The rank of the member that was lost, after CORECAST_LOST; -1 before, and for NULL.
int32_t corecast_member_lost(const corecast_member *member);

// Returns when every member has entered. All members see what any member wrote before.
corecast_status corecast_member_barrier(corecast_member *member);

// The same, waiting for at most `timeout_ns` nanoseconds. After CORECAST_TIMEOUT, whose message names the missing
// members, this member has entered and can only leave.
corecast_status corecast_member_barrier_timeout_ns(corecast_member *member,
                                                   uint64_t timeout_ns);

// Gives the root's `len` bytes to all others, whose `len` bytes they replace. 0 bytes are a message too: it arrives
// when the root has called.
corecast_status corecast_member_broadcast(corecast_member *member,
                                          uint32_t root,
                                          void *data,
                                          size_t len);

// Combines the `count` numbers of all members, first with first and so on, and leaves the results in the root's
// `numbers`; those of the others are of no use afterwards. `number` is a corecast_number, their type; `op` a
// corecast_op.
corecast_status corecast_member_reduce(corecast_member *member,
                                       uint32_t root,
                                       void *numbers,
                                       size_t count,
                                       uint32_t number,
                                       uint32_t op);

// The same with the results in all members' `numbers`, the same bits in each.
corecast_status corecast_member_allreduce(corecast_member *member,
                                          void *numbers,
                                          size_t count,
                                          uint32_t number,
                                          uint32_t op);

// Loads the MPI library of the launcher that started this process, checks it, and, unless this process was started by
// `corecast run`, meets the other nodes. CORECAST_SYSTEM if there is no such library, or it is not the launcher's: the
// message says what was found; CORECAST_TIMEOUT if a node does not come.
corecast_status corecast_cluster_open(const corecast_cluster_config *config,
                                      corecast_cluster **cluster);

// Becomes a member of the group over all nodes: the one with this rank on this node, from 0, on the thread that gets the
// handle; member 0 leads. A process that `corecast run` has started joins as its own member, whatever the rank. All nodes
// have to come.
//
// The member's rank and number of members count all nodes. These operations work as in any group: barriers, broadcasts,
// reductions to one and to all, barriers with a limit, and shrinking. All others return CORECAST_UNSUPPORTED.
corecast_status corecast_cluster_join(const corecast_cluster *cluster,
                                      uint32_t rank,
                                      corecast_member **member);

// The nodes and members of the group of a member. CORECAST_UNSUPPORTED if it is not one over several machines.
corecast_status corecast_cluster_info(const corecast_member *member,
                                      corecast_cluster_place *place);

// Closes it; NULL is none. Members have left before, at all nodes.
void corecast_cluster_close(corecast_cluster *cluster);

// Makes one group of all members that name the same `color`, from 0 to UINT32_MAX, ranked by `key`, and by their rank
// here where keys are equal. `part` is this member's place in its part, which it leaves like any group; NULL for
// members that name CORECAST_NO_COLOR. All members call it, as an operation of the group like others, and stay in the
// whole group. CORECAST_SYSTEM, for all members alike, if the memory of a group of processes is used up.
//
// Operations of a part are ordered with those of the whole group only by the calls of each member: two members that
// enter two groups in crossed order wait for each other for ever. A part fails by itself.
corecast_status corecast_member_split(corecast_member *member,
                                      int64_t color,
                                      int64_t key,
                                      corecast_member **part);

// Makes a group of the remaining members of this one, which has failed, with new ranks in the order of the old ones.
// `left` is this member's place in it. All remaining members call it, and wait until each member has called it, has
// left or has died; they go on waiting for a member that neither calls nor leaves. Close all objects made of the
// member before.
//
// `gone` has room for `room` ranks, and may be NULL for 0: the ranks of the lost members are written there, ascending,
// as far as they fit; `shrunk` has their number. Room for one less than the members of the failed group is always
// enough.
//
// The member stays in the failed group until it leaves, and can do nothing there. CORECAST_INVALID_ARGUMENT if the group has
// not failed; CORECAST_TAKEN if this member is in the new group already; CORECAST_SYSTEM, for all members alike, if the
// memory of a group of processes has no room for it.
corecast_status corecast_member_shrink(corecast_member *member,
                                       uint32_t *gone,
                                       size_t room,
                                       corecast_member **left,
                                       corecast_shrunk *shrunk);

// The same, waiting for at most `timeout_ns` nanoseconds. After CORECAST_TIMEOUT, whose message names the members that
// have neither called nor left, the others go on waiting for this member, which may call it again, or leave. In a group over
// several machines late members of other nodes are CORECAST_SYSTEM, and the process has to end: the others wait for that.
corecast_status corecast_member_shrink_timeout_ns(corecast_member *member,
                                                  uint64_t timeout_ns,
                                                  uint32_t *gone,
                                                  size_t room,
                                                  corecast_member **left,
                                                  corecast_shrunk *shrunk);

// Enters the barrier, and returns without waiting for the others.
corecast_status corecast_member_start_barrier(corecast_member *member, corecast_started **started);

// Begins to give the root's `len` bytes to all others. Until it is finished, some of the bytes may have come and
// others not.
corecast_status corecast_member_start_broadcast(corecast_member *member,
                                                uint32_t root,
                                                void *data,
                                                size_t len,
                                                corecast_started **started);

// Begins to combine the `count` numbers of all members for the root, as corecast_member_reduce does.
corecast_status corecast_member_start_reduce(corecast_member *member,
                                             uint32_t root,
                                             void *numbers,
                                             size_t count,
                                             uint32_t number,
                                             uint32_t op,
                                             corecast_started **started);

// The same for all members.
corecast_status corecast_member_start_allreduce(corecast_member *member,
                                                void *numbers,
                                                size_t count,
                                                uint32_t number,
                                                uint32_t op,
                                                corecast_started **started);

// Goes on with the operation without waiting; `is_finished` is true if it is finished, and the result is in its place.
corecast_status corecast_started_try_finish(corecast_started *started,
                                            bool *is_finished);

// Waits until the operation is finished.
corecast_status corecast_started_finish(corecast_started *started);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT, whose message names the members that
// have not begun it. Call it, or another such call, again to go on.
corecast_status corecast_started_finish_timeout_ns(corecast_started *started,
                                                   uint64_t timeout_ns);

// Closes the operation; NULL is none. If it is finished, its member can call other operations again; else it can only
// leave.
void corecast_started_close(corecast_started *started);

// corecast_member_start_broadcast and what finishes it, for at most `timeout_ns` nanoseconds in all. After
// CORECAST_TIMEOUT the member can only leave.
corecast_status corecast_member_broadcast_timeout_ns(corecast_member *member,
                                                     uint32_t root,
                                                     void *data,
                                                     size_t len,
                                                     uint64_t timeout_ns);

// The same with corecast_member_start_reduce.
corecast_status corecast_member_reduce_timeout_ns(corecast_member *member,
                                                  uint32_t root,
                                                  void *numbers,
                                                  size_t count,
                                                  uint32_t number,
                                                  uint32_t op,
                                                  uint64_t timeout_ns);

// The same with corecast_member_start_allreduce.
corecast_status corecast_member_allreduce_timeout_ns(corecast_member *member,
                                                     void *numbers,
                                                     size_t count,
                                                     uint32_t number,
                                                     uint32_t op,
                                                     uint64_t timeout_ns);

// Brings the `len` bytes of each member to the root, where they replace those at `gathered`, by rank; elsewhere
// `gathered` is not looked at and may be NULL. CORECAST_MISMATCH at the root if members gave different lengths; all
// bytes were received.
corecast_status corecast_member_gather(corecast_member *member,
                                       uint32_t root,
                                       const void *data,
                                       size_t len,
                                       void *gathered);

// Gives each member its `len` bytes of the root's `data`, those of member 0 first, which replace those at `own`; elsewhere
// `data` is not looked at and may be NULL. CORECAST_LOST, which names a neighbour, if members asked for different lengths.
corecast_status corecast_member_scatter(corecast_member *member,
                                        uint32_t root,
                                        const void *data,
                                        size_t len,
                                        void *own);

// Begins to bring the `len` bytes of each member, which are copied, to the root, as corecast_member_gather does. Calls that
// finish it return CORECAST_MISMATCH where that does; it is finished then.
corecast_status corecast_member_start_gather(corecast_member *member,
                                             uint32_t root,
                                             const void *data,
                                             size_t len,
                                             void *gathered,
                                             corecast_started **started);

// Begins to give each member its `len` bytes of the root's `data`, which are copied, as corecast_member_scatter does.
corecast_status corecast_member_start_scatter(corecast_member *member,
                                              uint32_t root,
                                              const void *data,
                                              size_t len,
                                              void *own,
                                              corecast_started **started);

// corecast_member_start_gather and what finishes it, for at most `timeout_ns` nanoseconds in all. After
// CORECAST_TIMEOUT the member can only leave.
corecast_status corecast_member_gather_timeout_ns(corecast_member *member,
                                                  uint32_t root,
                                                  const void *data,
                                                  size_t len,
                                                  void *gathered,
                                                  uint64_t timeout_ns);

// The same with corecast_member_start_scatter.
corecast_status corecast_member_scatter_timeout_ns(corecast_member *member,
                                                   uint32_t root,
                                                   const void *data,
                                                   size_t len,
                                                   void *own,
                                                   uint64_t timeout_ns);

// Combines the `count` values of all members, first with first and so on, and leaves the results in the root's
// `values`; those of the others are of no use afterwards. Members that give another number of bytes are CORECAST_LOST;
// if a member takes the same bytes for values of another size, that may go unnoticed.
corecast_status corecast_member_reduce_with(corecast_member *member,
                                            uint32_t root,
                                            void *values,
                                            size_t count,
                                            const corecast_combination *combination);

// The same with the results in all members' `values`, the same bytes in each.
corecast_status corecast_member_allreduce_with(corecast_member *member,
                                               void *values,
                                               size_t count,
                                               const corecast_combination *combination);

// Begins to combine the `count` values of all members for the root, as corecast_member_reduce_with does. `combination` is
// copied; its function is called within the calls that begin and finish the operation.
corecast_status corecast_member_start_reduce_with(corecast_member *member,
                                                  uint32_t root,
                                                  void *values,
                                                  size_t count,
                                                  const corecast_combination *combination,
                                                  corecast_started **started);

// The same for all members.
corecast_status corecast_member_start_allreduce_with(corecast_member *member,
                                                     void *values,
                                                     size_t count,
                                                     const corecast_combination *combination,
                                                     corecast_started **started);

// corecast_member_start_reduce_with and what finishes it, for at most `timeout_ns` nanoseconds in all. After
// CORECAST_TIMEOUT the member can only leave.
corecast_status corecast_member_reduce_with_timeout_ns(corecast_member *member,
                                                       uint32_t root,
                                                       void *values,
                                                       size_t count,
                                                       const corecast_combination *combination,
                                                       uint64_t timeout_ns);

// The same with corecast_member_start_allreduce_with.
corecast_status corecast_member_allreduce_with_timeout_ns(corecast_member *member,
                                                          void *values,
                                                          size_t count,
                                                          const corecast_combination *combination,
                                                          uint64_t timeout_ns);

// Makes this member the coordinator of proposals of up to `longest_bytes`, which are the same for all members; all
// others call corecast_commit_participant_open meanwhile. Proposals of up to 56 bytes travel in one cache line, those of
// up to 504 in one message. If longer ones are possible, two of the longest take room in the group's memory;
// CORECAST_SYSTEM if it has none.
corecast_status corecast_commit_coordinator_open(corecast_member *member,
                                                 size_t longest_bytes,
                                                 corecast_commit_coordinator **coordinator);

// Ends the coordinator, and the participants learn of it; NULL is none. Its member can call other operations again.
void corecast_commit_coordinator_close(corecast_commit_coordinator *coordinator);

// Puts a proposal of `len` bytes to the vote, for at most `timeout_ns`; `is_committed` is true if all have voted for
// it in time, so that all apply it. The decision also stands if a member was lost meanwhile: then the next call
// returns CORECAST_LOST. CORECAST_TOO_LARGE for more bytes than the coordinator was made for; no member is asked then.
corecast_status corecast_commit_coordinator_commit(corecast_commit_coordinator *coordinator,
                                                   const void *proposal,
                                                   size_t len,
                                                   uint64_t timeout_ns,
                                                   bool *is_committed);

// Makes this member a participant in what the member of rank `coordinator` proposes, of up to `longest_bytes`, which are the
// same for all members. CORECAST_SYSTEM if the group's memory has no room, as for the coordinator.
corecast_status corecast_commit_participant_open(corecast_member *member,
                                                 uint32_t coordinator,
                                                 size_t longest_bytes,
                                                 corecast_commit_participant **participant);

// Ends the participant; NULL is none. Proposals made afterwards are not committed. Its member can call other
// operations again.
void corecast_commit_participant_close(corecast_commit_participant *participant);

// Waits for the next proposal, votes on it as `vote` says, and calls `apply` with it and whether it is committed. A
// proposal that this member votes against is not committed, which the member knows at once. CORECAST_CLOSED if the
// coordinator has ended; CORECAST_LOST if the group has failed before there was a proposal. Neither function calls
// anything with this participant, and neither throws nor jumps; the proposal is theirs until they return.
corecast_status corecast_commit_participant_serve(corecast_commit_participant *participant,
                                                  bool (*vote)(void *context, const void *proposal, size_t len),
                                                  void (*apply)(void *context,
                                                                const void *proposal,
                                                                size_t len,
                                                                bool is_committed),
                                                  void *context);

// Opens a stream together with all other members. CORECAST_SYSTEM if the group's memory is used up.
corecast_status corecast_atomic_stream_open(corecast_member *member, corecast_atomic_stream **stream);

// Closes the end; NULL is none. Its member can call other operations again. A stream that corecast_atomic_stream_finish has
// not ended makes the group fail.
void corecast_atomic_stream_close(corecast_atomic_stream *stream);

// Publishes an event, and returns when all of it has been sent. Events that must be delivered before there is room go to
// `deliver`.
corecast_status corecast_atomic_stream_publish(corecast_atomic_stream *stream,
                                               const void *data,
                                               size_t len,
                                               corecast_deliver deliver,
                                               void *context);

// The same without waiting, and without delivering: CORECAST_FULL if there is no room. Of an event of more than 500
// bytes only the first part need have room: the others are kept, and sent by the following calls, until which there is
// room for no other event.
corecast_status corecast_atomic_stream_try_publish(corecast_atomic_stream *stream,
                                                   const void *data,
                                                   size_t len);

// Gives the events that are here to `deliver`, in order, without waiting; `count` is their number.
corecast_status corecast_atomic_stream_deliver(corecast_atomic_stream *stream,
                                               corecast_deliver deliver,
                                               void *context,
                                               uint64_t *count);

// Takes in and passes on events without waiting, and delivers none.
corecast_status corecast_atomic_stream_progress(corecast_atomic_stream *stream);

// Ends the stream: returns when all members have called it and this one has delivered all published events. Then close
// it.
corecast_status corecast_atomic_stream_finish(corecast_atomic_stream *stream,
                                              corecast_deliver deliver,
                                              void *context);

// Opens an acknowledged broadcast as its root, while all others call corecast_ack_follower_open with the same
// `config`. CORECAST_MISMATCH at all members if they do not agree on it, CORECAST_INVALID_ARGUMENT at members whose
// own is invalid or names another root; the group has not failed then. CORECAST_SYSTEM if the group's memory is used
// up. A number that no enumeration has, or CORECAST_TOO_LARGE for events of more than 4088 bytes, counts as if the
// member had not called.
corecast_status corecast_ack_root_open(corecast_member *member,
                                       const corecast_ack_config *config,
                                       corecast_ack_root **root);

// Closes the end; NULL is none. Its member can call other operations again. A broadcast that corecast_ack_root_finish
// has not ended makes the group fail, so that no member waits for more events in vain.
void corecast_ack_root_close(corecast_ack_root *root);

// Publishes an event of `len` bytes, waiting while the window is full; `number` is its number, from 1. CORECAST_TOO_LARGE
// for more bytes than there is room for.
corecast_status corecast_ack_root_publish(corecast_ack_root *root,
                                          const void *data,
                                          size_t len,
                                          uint64_t *number);

// The same without waiting: CORECAST_FULL if the window is full.
corecast_status corecast_ack_root_try_publish(corecast_ack_root *root,
                                              const void *data,
                                              size_t len,
                                              uint64_t *number);

// The last event that all other members have acknowledged, and with it all before; 0 for none.
corecast_status corecast_ack_root_acked(corecast_ack_root *root, uint64_t *number);

// Returns when all other members have acknowledged the event of this number, which has been published.
corecast_status corecast_ack_root_wait(corecast_ack_root *root, uint64_t number);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT. The event stays published.
corecast_status corecast_ack_root_wait_timeout_ns(corecast_ack_root *root,
                                                  uint64_t number,
                                                  uint64_t timeout_ns);

// Waits until all other members have acknowledged all events, and ends the broadcast: they learn that no event
// follows. Then close it.
corecast_status corecast_ack_root_finish(corecast_ack_root *root);

// Opens an acknowledged broadcast as a member that receives; it fails as corecast_ack_root_open does.
corecast_status corecast_ack_follower_open(corecast_member *member,
                                           const corecast_ack_config *config,
                                           corecast_ack_follower **follower);

// Closes the end; NULL is none. Its member can call other operations again.
void corecast_ack_follower_close(corecast_ack_follower *follower);

// Waits for the next event: its number, from 1, and where its bytes are until the next call with this follower, when it
// counts as processed. CORECAST_CLOSED if the broadcast is over.
corecast_status corecast_ack_follower_recv(corecast_ack_follower *follower,
                                           uint64_t *number,
                                           corecast_message *message);

// The same without waiting: CORECAST_EMPTY if there is no event yet.
corecast_status corecast_ack_follower_try_recv(corecast_ack_follower *follower,
                                               uint64_t *number,
                                               corecast_message *message);

// Waits for events, and hands all that are there to `process`; the return of `process` acknowledges the event. `count`
// is their number. CORECAST_CLOSED if the broadcast is over. `process` makes no call with this follower, and neither
// throws nor jumps; it may use the bytes until it returns.
corecast_status corecast_ack_follower_drain(corecast_ack_follower *follower,
                                            corecast_process process,
                                            void *context,
                                            size_t *count);

// The same without waiting: CORECAST_EMPTY if there is no event yet.
corecast_status corecast_ack_follower_try_drain(corecast_ack_follower *follower,
                                                corecast_process process,
                                                void *context,
                                                size_t *count);

// Waits until this member has passed on all events that it has processed. A member calls it before it stops calling
// for a while, so that others need not wait for it meanwhile.
corecast_status corecast_ack_follower_flush(corecast_ack_follower *follower);

// The corecast_lock_algorithm with this name, such as "mcs". CORECAST_NOT_FOUND if there is none; the message lists all.
corecast_status corecast_lock_algorithm_of_name(const char *name,
                                                uint32_t *algorithm);

// Makes a free lock where `lock` points. `algorithm` is a corecast_lock_algorithm. Most locks lie in these 64 bytes; array
// and hmcs allocate, until they are destroyed. From C hmcs knows of one domain, and is a queue. CORECAST_NOT_FOUND if
// there is no such algorithm.
corecast_status corecast_lock_create(uint32_t algorithm,
                                     corecast_lock *lock);

// Waits until the lock is free, and takes it.
corecast_status corecast_lock_lock(corecast_lock *lock);

// Takes the lock if it is free; CORECAST_TAKEN if not, even if this thread holds it.
corecast_status corecast_lock_try_lock(corecast_lock *lock);

// Waits until the lock is free, for at most `timeout_ns` nanoseconds, and takes it; CORECAST_TIMEOUT if it was held
// all the time. Only with the algorithms word, byte, qword and auto may a waiting thread expect its turn: with the
// others it tries again and again.
corecast_status corecast_lock_lock_timeout_ns(corecast_lock *lock,
                                              uint64_t timeout_ns);

// Frees the lock, which this thread holds.
corecast_status corecast_lock_unlock(corecast_lock *lock);

// The statistics of a lock of the algorithm auto; CORECAST_INVALID_ARGUMENT for others. Waits for the lock.
corecast_status corecast_lock_read_stats(corecast_lock *lock, corecast_lock_stats *stats);

// Why a lock of the algorithm auto lets its threads wait as it does, in some lines for people; CORECAST_INVALID_ARGUMENT for
// others. Copies at most `size` bytes to `buffer`, which may be NULL if `size` is 0, as corecast_error_message does, and the
// length of the whole text without the zero byte to `len`. Waits for the lock.
corecast_status corecast_lock_explain(corecast_lock *lock,
                                      char *buffer,
                                      size_t size,
                                      size_t *len);

// Frees what the lock has allocated. To use its memory as a lock again, create one there, or set it to zeroes.
// CORECAST_TAKEN if a thread holds it. A lock of zeroes need not be destroyed.
corecast_status corecast_lock_destroy(corecast_lock *lock);

// Frees the lock, which this thread holds, sleeps until a notification, and takes the lock again. It may return for no
// reason, and another thread may have been there first: so look again, in a loop.
corecast_status corecast_condvar_wait(corecast_condvar *condvar,
                                      corecast_lock *lock);

// As corecast_condvar_wait, asleep for at most `timeout_ns` nanoseconds: CORECAST_TIMEOUT if no notification came. The
// thread waits for the lock without a limit, and holds it after a timeout too.
corecast_status corecast_condvar_wait_timeout_ns(corecast_condvar *condvar,
                                                 corecast_lock *lock,
                                                 uint64_t timeout_ns);

// Wakes one waiting thread, if there is one.
corecast_status corecast_condvar_notify_one(corecast_condvar *condvar);

// Wakes all waiting threads.
corecast_status corecast_condvar_notify_all(corecast_condvar *condvar);

// The corecast_rw_lock_algorithm with this name, such as "rw_spread". CORECAST_NOT_FOUND if there is none.
corecast_status corecast_rw_lock_algorithm_of_name(const char *name, uint32_t *algorithm);

// Makes a free lock. `algorithm` is a corecast_rw_lock_algorithm. CORECAST_NOT_FOUND if there is no such algorithm.
corecast_status corecast_rw_lock_create(uint32_t algorithm,
                                        corecast_rw_lock **lock);

// Destroys a lock that no thread holds or waits for; NULL is none.
void corecast_rw_lock_destroy(corecast_rw_lock *lock);

// Waits until no thread writes, and begins to read. Writes to `reader`, which is passed to the call that ends this.
corecast_status corecast_rw_lock_read(const corecast_rw_lock *lock,
                                      corecast_rw_reader *reader);

// The same without waiting: CORECAST_TAKEN if a thread writes, or is about to.
corecast_status corecast_rw_lock_try_read(const corecast_rw_lock *lock, corecast_rw_reader *reader);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_rw_lock_read_timeout_ns(const corecast_rw_lock *lock,
                                                 uint64_t timeout_ns,
                                                 corecast_rw_reader *reader);

// Ends a reader of this lock. CORECAST_INVALID_ARGUMENT if it has ended already, or is none of this lock.
corecast_status corecast_rw_lock_unlock_read(const corecast_rw_lock *lock, corecast_rw_reader *reader);

// Waits until no thread reads or writes, and begins to write.
corecast_status corecast_rw_lock_write(const corecast_rw_lock *lock);

// The same without waiting: CORECAST_TAKEN if a thread reads or writes.
corecast_status corecast_rw_lock_try_write(const corecast_rw_lock *lock);

// The same, waiting for at most `timeout_ns` nanoseconds: then CORECAST_TIMEOUT.
corecast_status corecast_rw_lock_write_timeout_ns(const corecast_rw_lock *lock, uint64_t timeout_ns);

// Ends the writer, which is this thread.
corecast_status corecast_rw_lock_unlock_write(const corecast_rw_lock *lock);

// Makes the writer, which is this thread, a reader, without a moment in which another thread might write.
corecast_status corecast_rw_lock_downgrade(const corecast_rw_lock *lock, corecast_rw_reader *reader);

// Declares a lock of a region to be, alone on its line. `algorithm` is a corecast_lock_algorithm: word, or tas, ttas
// or ticket where no process is ever killed; CORECAST_INVALID_ARGUMENT for others, CORECAST_NOT_FOUND for none.
corecast_status corecast_region_plan_add_lock(corecast_region_plan *plan,
                                              const char *name,
                                              uint32_t algorithm);

// Opens the lock with this name, any number of times. CORECAST_NOT_FOUND if the region has none, CORECAST_MISMATCH if it is
// something else, or damaged.
corecast_status corecast_shared_lock_open(const corecast_region *region,
                                          const char *name,
                                          corecast_shared_lock **lock);

// Waits until the lock is free, and takes it. CORECAST_OWNER_DIED: this thread has it, from a holder that is gone.
corecast_status corecast_shared_lock_lock(const corecast_shared_lock *lock);

// The same if the lock is free or its holder is gone; CORECAST_TAKEN if not, even if this thread holds it.
corecast_status corecast_shared_lock_try_lock(const corecast_shared_lock *lock);

// As corecast_shared_lock_lock, for at most `timeout_ns` nanoseconds: CORECAST_TIMEOUT if it was held all the time.
corecast_status corecast_shared_lock_lock_timeout_ns(const corecast_shared_lock *lock,
                                                     uint64_t timeout_ns);

// Frees the lock, which this thread holds by this object.
corecast_status corecast_shared_lock_unlock(const corecast_shared_lock *lock);

// Closes a lock; NULL is none. A lock that is held stays held until this participant gives up its place in the region:
// the next thread to take it gets CORECAST_OWNER_DIED.
void corecast_shared_lock_close(corecast_shared_lock *lock);

// Adds bytes to an output: for the functions of a corecast_replica_machine.
corecast_status corecast_replica_output_write(corecast_replica_output *output, const void *data, size_t len);

// Makes a group without a name, of which this node is the first member, with the state as it is. Other processes get the
// descriptor of corecast_replica_share_fd. CORECAST_SYSTEM if there is no room for its memory, or config.folder cannot be
// used.
corecast_status corecast_replica_create(const corecast_replica_config *config,
                                        const corecast_replica_machine *machine,
                                        corecast_replica **replica);

// Makes a group with a name, which other processes of this user give to corecast_replica_attach. Names and directories are
// those of corecast_region_host. CORECAST_EXISTS if a living process has a group of this name.
corecast_status corecast_replica_create_named(const char *directory,
                                              const char *name,
                                              const corecast_replica_config *config,
                                              const corecast_replica_machine *machine,
                                              corecast_replica **replica);

// Joins the group with this name. `restore` gives the state the contents that the group's has. CORECAST_NOT_FOUND if there
// is none, CORECAST_TAKEN if all its slots are taken, CORECAST_TIMEOUT if no member took this node in, CORECAST_DIED if all
// members are gone, CORECAST_MISMATCH if it is of another version, holds another state (`machine.kind`), or `restore`
// refused it.
corecast_status corecast_replica_attach(const char *directory,
                                        const char *name,
                                        const corecast_replica_config *config,
                                        const corecast_replica_machine *machine,
                                        corecast_replica **replica);

// The same with the group behind a descriptor, which stays the caller's and may be closed afterwards.
corecast_status corecast_replica_attach_fd(int fd,
                                           const corecast_replica_config *config,
                                           const corecast_replica_machine *machine,
                                           corecast_replica **replica);

// A new descriptor of the group, to be sent to one other process, which gives it to corecast_replica_attach_fd. Close it
// here once it is sent.
corecast_status corecast_replica_share_fd(const corecast_replica *replica,
                                          int *fd);

// Asks the state of this replica a question. `level` is a corecast_replica_level; `index` is for
// CORECAST_REPLICA_LEVEL_AT_LEAST. Copies at most `capacity` bytes of the answer to `answer`, which may be NULL if
// `capacity` is 0; `answer_len` is the length of the whole answer, and `shown` the number of operations and commands that it
// shows.
// A linearizable read needs no message: it waits only if the replica is behind, for 5 s at most, then CORECAST_LAGGING.
corecast_status corecast_replica_read(const corecast_replica *replica,
                                      uint32_t level,
                                      uint64_t index,
                                      const void *question,
                                      size_t len,
                                      void *answer,
                                      size_t capacity,
                                      size_t *answer_len,
                                      uint64_t *shown);

// The same, waiting for at most `timeout_ns` nanoseconds.
corecast_status corecast_replica_read_timeout_ns(const corecast_replica *replica,
                                                 uint32_t level,
                                                 uint64_t index,
                                                 const void *question,
                                                 size_t len,
                                                 void *answer,
                                                 size_t capacity,
                                                 uint64_t timeout_ns,
                                                 size_t *answer_len,
                                                 uint64_t *shown);

// Waits until a read of this level waits no longer, for at most `timeout_ns` nanoseconds, then CORECAST_LAGGING. With
// CORECAST_REPLICA_LEVEL_AT_LEAST and the `shown` of the last read it sleeps until there is something new.
corecast_status corecast_replica_catch_up_timeout_ns(const corecast_replica *replica,
                                                     uint32_t level,
                                                     uint64_t index,
                                                     uint64_t timeout_ns);

// How the replica and its group are. `status` has its size set, and gets as many bytes as that says.
corecast_status corecast_replica_read_status(const corecast_replica *replica,
                                             corecast_replica_status *status);

// Takes a consistent cut: writes the state of this replica at one place of the log to a descriptor, or no state if that is
// -1, and compares its digest with those of the other members there. Members whose digest is not that of most are put out:
// they get CORECAST_DIVERGED. CORECAST_UNKNOWN if the cut was not reached within `timeout_ns` nanoseconds.
corecast_status corecast_replica_take_checkpoint(const corecast_replica *replica,
                                                 int fd,
                                                 uint64_t timeout_ns,
                                                 corecast_replica_checkpoint *checkpoint);

// Leaves the group, and waits for up to 2 s until the others know: CORECAST_UNKNOWN if they did not take note in time, which
// finds this node dead later. Then only reads with CORECAST_REPLICA_LEVEL_LOCAL work. Close it all the same.
corecast_status corecast_replica_leave(const corecast_replica *replica);

// Closes a replica; NULL is none. It leaves the group when its sessions are closed, too.
void corecast_replica_close(corecast_replica *replica);

// Opens a session, and waits until the group knows it.
corecast_status corecast_replica_session_open(const corecast_replica *replica,
                                              corecast_replica_session **session);

// Does an operation of `len` bytes, and returns its result when this replica has applied it. From then on every linearizable
// read of any replica shows it.
corecast_status corecast_replica_session_execute(corecast_replica_session *session,
                                                 const void *op,
                                                 size_t len,
                                                 corecast_replica_result *result);

// The same, for at most `timeout_ns` nanoseconds. CORECAST_UNKNOWN if the time was up: the operation may be done or not.
// `request`, which is written then too, is its number for corecast_replica_session_resume. CORECAST_FULL if the time was up
// before a long operation had room: it was not begun then, and has no number.
corecast_status corecast_replica_session_execute_timeout_ns(corecast_replica_session *session,
                                                            const void *op,
                                                            size_t len,
                                                            uint64_t timeout_ns,
                                                            uint32_t *request,
                                                            corecast_replica_result *result);

// Begins an operation, whose result corecast_replica_session_finish_timeout_ns waits for. CORECAST_FULL if 16 requests have
// no result. A long operation waits until this node's memory has room for it, however long that takes:
// corecast_replica_session_queue_timeout_ns has a limit. Once in some 4 billion requests it waits, for at most 10 s, for the
// session that this one goes on as.
corecast_status corecast_replica_session_start(corecast_replica_session *session,
                                               const void *op,
                                               size_t len,
                                               uint32_t *request);

// As corecast_replica_session_start, but the operation is handed in only when a thread of this node next waits for a result:
// all that were queued until then are ordered in one run, which takes a fraction of the time of as many runs. A long one
// waits for room for at most `timeout_ns` nanoseconds, then CORECAST_FULL, and was not begun.
corecast_status corecast_replica_session_queue_timeout_ns(corecast_replica_session *session,
                                                          const void *op,
                                                          size_t len,
                                                          uint64_t timeout_ns,
                                                          uint32_t *request);

// The requests whose results have not been taken, oldest first: writes the numbers of at most `capacity`, of 16 at most, to
// `requests`, which may be NULL if `capacity` is 0; `count` is how many there are.
corecast_status corecast_replica_session_read_unanswered(corecast_replica_session *session,
                                                         uint32_t *requests,
                                                         size_t capacity,
                                                         size_t *count);

// Waits for the result of a request for at most `timeout_ns` nanoseconds.
corecast_status corecast_replica_session_finish_timeout_ns(corecast_replica_session *session,
                                                           uint32_t request,
                                                           uint64_t timeout_ns,
                                                           corecast_replica_result *result);

// Sends a request without a result once more, and waits for at most `timeout_ns` nanoseconds. It is done once all the same.
// CORECAST_UNKNOWN if the time was up once more, or the session has no such request without a result.
corecast_status corecast_replica_session_resume(corecast_replica_session *session,
                                                uint32_t request,
                                                uint64_t timeout_ns,
                                                corecast_replica_result *result);

// Closes a session; NULL is none. Requests without a result may be done or not.
void corecast_replica_session_close(corecast_replica_session *session);

// Makes an instance for the threads of this process.
corecast_status corecast_tm_create(const corecast_tm_config *config, corecast_tm **tm);

// Makes an instance for processes, without a name. Others get the descriptor of corecast_tm_share_fd.
corecast_status corecast_tm_create_shared(const corecast_tm_config *config, corecast_tm **tm);

// Makes an instance with a name, which other processes of this user give to corecast_tm_attach. Names and directories are
// those of corecast_region_host. CORECAST_EXISTS if a living process has an instance of this name.
corecast_status corecast_tm_create_named(const char *directory,
                                         const char *name,
                                         const corecast_tm_config *config,
                                         corecast_tm **tm);

// Joins the instance with this name. CORECAST_NOT_FOUND if there is none.
corecast_status corecast_tm_attach(const char *directory, const char *name, corecast_tm **tm);

// Joins the instance behind a descriptor, which stays the caller's and may be closed afterwards.
corecast_status corecast_tm_attach_fd(int fd, corecast_tm **tm);

// A new descriptor of the instance, to be sent to one other process, which gives it to corecast_tm_attach_fd. Close it here
// once it is sent.
corecast_status corecast_tm_share_fd(const corecast_tm *tm,
                                     int *fd);

// The number of participants, and of the servers among them.
corecast_status corecast_tm_size(const corecast_tm *tm, uint32_t *participants, uint32_t *servers);

// Whether a participant is a server: 1 or 0.
corecast_status corecast_tm_is_server(const corecast_tm *tm, uint32_t id, uint32_t *is_server);

// The form of the instance, a corecast_tm_form: never auto, which becomes one of both when the instance is made.
corecast_status corecast_tm_form_of(const corecast_tm *tm,
                                    uint32_t *form);

// Why the form auto has become what it is, in words for people; an empty text if the form was named, or in another process
// than that which made the instance. Copies at most `size` bytes to `buffer`, which may be NULL if `size` is 0, as
// corecast_error_message does, and the length of the whole text without the zero byte to `len`.
corecast_status corecast_tm_explain(const corecast_tm *tm,
                                    char *buffer,
                                    size_t size,
                                    size_t *len);

// The CPU on which the machine's model has a participant, for the thread or process that takes it to bind itself: the same
// in every process. -1 where the scheduler chooses, as with more participants than CPUs.
corecast_status corecast_tm_cpu(const corecast_tm *tm,
                                uint32_t id,
                                int *cpu);

// A word with this value, outside transactions: its number, by which every process of the instance knows it. CORECAST_FULL
// if all words are in use.
corecast_status corecast_tm_new_word(const corecast_tm *tm,
                                     uint64_t value,
                                     uint32_t *word);

// The value of one word as the last commit left it, outside transactions. Several such values need not belong together.
// CORECAST_INVALID_ARGUMENT where values are with the servers.
corecast_status corecast_tm_load(const corecast_tm *tm,
                                 uint32_t word,
                                 uint64_t *value);

// Lets the servers end.
corecast_status corecast_tm_stop(const corecast_tm *tm);

// Closes an instance; NULL is none.
void corecast_tm_close(corecast_tm *tm);

// Takes the place of a server. CORECAST_TAKEN if another one has it.
corecast_status corecast_tm_server_open(const corecast_tm *tm, uint32_t id, corecast_tm_server **server);

// Serves until all applications have left, or corecast_tm_stop. It can only be closed afterwards.
corecast_status corecast_tm_server_serve(corecast_tm_server *server);

// Closes a server; NULL is none.
void corecast_tm_server_close(corecast_tm_server *server);

// Takes the place of a participant that is no server. CORECAST_TAKEN if another one has it.
corecast_status corecast_tm_participant_open(const corecast_tm *tm,
                                             uint32_t id,
                                             corecast_tm_participant **participant);

// Leaves the instance, while no transaction of this participant runs; NULL is none.
void corecast_tm_participant_close(corecast_tm_participant *participant);

// Runs a transaction: calls `body` until an attempt commits, or gives up. `outcome` is what the body returned then, 0 if it
// was committed. Transactions do not nest: a call by the body is CORECAST_PANIC, and runs nothing. CORECAST_POISONED if a
// participant was killed in the middle of its work, CORECAST_CLOSED if the servers have ended, CORECAST_FULL if the body
// made more words than there are.
corecast_status corecast_tm_run(const corecast_tm_participant *participant,
                                corecast_tm_body body,
                                void *context,
                                int *outcome);

// The number of transactions that the participant has committed, and of attempts that were aborted. CORECAST_PANIC in the
// body of a transaction of it.
corecast_status corecast_tm_participant_counts(const corecast_tm_participant *participant,
                                               uint64_t *commits,
                                               uint64_t *aborts);

// The value of one word as the last commit left it, outside transactions: a round trip where values are with the servers.
// Several such values need not belong together. CORECAST_PANIC in the body of a transaction of this participant.
corecast_status corecast_tm_participant_load(const corecast_tm_participant *participant,
                                             uint32_t word,
                                             uint64_t *value);

// Adds to one word, modulo 2^64: a transaction of its own, of one round trip by messages. `old` is the value before. Of
// CORECAST_CLOSED and CORECAST_POISONED by messages it is not known whether the word was changed. CORECAST_PANIC in the body
// of a transaction of this participant.
corecast_status corecast_tm_fetch_add(const corecast_tm_participant *participant,
                                      uint32_t word,
                                      uint64_t delta,
                                      uint64_t *old);

// Stores one word; else as corecast_tm_fetch_add.
corecast_status corecast_tm_swap(const corecast_tm_participant *participant,
                                 uint32_t word,
                                 uint64_t value,
                                 uint64_t *old);

// The value of a word. As of every access: CORECAST_ABORTED if the attempt is over. CORECAST_INVALID_ARGUMENT if there is
// no such word: corecast_tm_run then writes nothing and returns the same, whatever else the body does.
corecast_status corecast_tx_read(corecast_tx *tx,
                                 uint32_t word,
                                 uint64_t *value);

// The value of a word that this transaction is going to write: no other transaction comes in between.
corecast_status corecast_tx_read_for_update(corecast_tx *tx, uint32_t word, uint64_t *value);

// Writes a word when the transaction commits; later reads of this transaction see it at once.
corecast_status corecast_tx_write(corecast_tx *tx, uint32_t word, uint64_t value);

// Gives the read lock of a word back before the end: others may write it from now on, and this transaction is not aborted
// for that.
corecast_status corecast_tx_release(corecast_tx *tx,
                                    uint32_t word);

// A word that nobody else knows, with this value. It goes if the transaction is not committed.
corecast_status corecast_tx_new_word(corecast_tx *tx, uint64_t value, uint32_t *word);

// Gives a word back if the transaction commits; nobody may use it any more.
corecast_status corecast_tx_free_word(corecast_tx *tx, uint32_t word);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CORECAST_H */
