import io.aeron.Aeron;
import io.aeron.ExclusivePublication;
import io.aeron.FragmentAssembler;
import io.aeron.Publication;
import io.aeron.Subscription;
import io.aeron.driver.MediaDriver;
import io.aeron.driver.ThreadingMode;
import io.aeron.logbuffer.BufferClaim;
import io.aeron.logbuffer.FragmentHandler;
import io.aeron.logbuffer.Header;
import io.aeron.protocol.DataHeaderFlyweight;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/**
 * The contender aeron-ipc of corecast's race of channels: a publication and its subscriptions over an embedded media
 * driver, each on a thread of its own.
 *
 * <p>Arguments: an empty directory, the length of every message, the number of receivers, and whether the participants
 * share CPUs ("yield") or not ("spin"). Says "ready" and the system's thread ids of sender and receivers when the code is
 * warm. Then each line on standard input, "run F N" or "check F N", is a block of N messages from number F on, answered
 * with "done", the nanoseconds until the last receiver had the last message, those until the sender had sent it, the CPU
 * time of all threads, and the sum that each receiver found; or with "wrong" and what. The end of the input ends the
 * program, and so does any trouble, in one line of standard error.
 */
public final class AeronStream {
    /** A block that lasts longer is given up, and the program with it. */
    private static final long LIMIT_S = 30;
    /** The longest that Aeron allows: messages of up to about 64 KiB are written and read where they lie. */
    private static final int MTU_BYTES = 65_504;
    /**
     * Aeron's own default. Half a term may be under way, and the driver has to see that there is room again: terms of 1 MiB
     * take a hundred times as long on two busy CPUs, of 16 MiB four times.
     */
    private static final int TERM_BYTES = 64 << 20;
    /** A message has an eighth of a term at most. */
    private static final int MESSAGES_OF_A_TERM = 8;
    /** Messages that a receiver takes in at one call. */
    private static final int POLLED = 64;
    /** How long the code is run before anything is timed, and in what blocks: after half of it times no longer change. */
    private static final long WARM_NS = 1_000_000_000;
    private static final long WARM_MESSAGES = 10_000;
    private static final long WARM_BYTES = 16 << 20;

    private final int bytes;
    private final int participants;
    private final IdleStrategy idle;
    /** Where participants and the program meet before and after a block; a waiting thread sleeps. */
    private final CyclicBarrier doors;
    /** Where participants meet once they are awake: arrivals so far. */
    private final AtomicLong awake = new AtomicLong();
    /** The block under way: written by the program before the doors open. */
    private long first;
    private long count;
    private boolean isVerified;
    /** The observations of its participants, the sender first: each writes its own before the doors close. */
    private final long[] starts;
    private final long[] ends;
    private final long[] sums;
    private final String[] wrongs;
    private final long[] threadIds;

    private AeronStream(int bytes, int receivers, boolean yields) {
        this.bytes = bytes;
        participants = receivers + 1;
        idle = yields ? YieldingIdleStrategy.INSTANCE : BusySpinIdleStrategy.INSTANCE;
        doors = new CyclicBarrier(participants + 1);
        starts = new long[participants];
        ends = new long[participants];
        sums = new long[participants];
        wrongs = new String[participants];
        threadIds = new long[participants];
    }

    public static void main(String[] arguments) {
        try {
            run(arguments);
        } catch (Exception | Error error) {
            giveUp(error.toString());
        }
    }

    private static void run(String[] arguments) throws Exception {
        String directory = arguments[0];
        int bytes = Integer.parseInt(arguments[1]);
        int receivers = Integer.parseInt(arguments[2]);
        AeronStream stream = new AeronStream(bytes, receivers, arguments[3].equals("yield"));
        try (MediaDriver driver = MediaDriver.launch(stream.driver(directory));
            Aeron aeron = Aeron.connect(new Aeron.Context().aeronDirectoryName(directory))) {
            stream.open(aeron);
            stream.warmUp();
            stream.serve();
        }
    }

    /** One thread for the whole driver, which naps when there is nothing to do: it has no seat of its own. */
    private MediaDriver.Context driver(String directory) {
        int term = TERM_BYTES;
        while (term / MESSAGES_OF_A_TERM < bytes) {
            term *= 2;
        }
        return new MediaDriver.Context()
            .aeronDirectoryName(directory)
            .dirDeleteOnStart(true)
            .dirDeleteOnShutdown(true)
            .threadingMode(ThreadingMode.SHARED)
            .sharedIdleStrategy(new BackoffIdleStrategy())
            .ipcTermBufferLength(term)
            .ipcMtuLength(MTU_BYTES)
            .termBufferSparseFile(false);
    }

    private void open(Aeron aeron) throws Exception {
        for (int rank = 1; rank < participants; rank++) {
            Receiver receiver = new Receiver(aeron.addSubscription("aeron:ipc", 1));
            start(rank, receiver);
        }
        ExclusivePublication publication = aeron.addExclusivePublication("aeron:ipc", 1);
        start(0, new Sender(publication));
        while (!publication.isConnected()) {
            Thread.sleep(1);
        }
    }

    private void start(int rank, Part part) {
        Thread thread = new Thread(() -> participate(rank, part), rank == 0 ? "sender" : "receiver" + rank);
        thread.setDaemon(true);
        thread.start();
    }

    private void participate(int rank, Part part) {
        try {
            String thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
            threadIds[rank] = Long.parseLong(thread);
            for (long blocks = 1;; blocks++) {
                doors.await();
                awake.incrementAndGet();
                while (awake.get() < blocks * participants) {
                    idle.idle();
                }
                starts[rank] = System.nanoTime();
                part.perform(rank);
                doors.await();
            }
        } catch (Exception | Error error) {
            giveUp(Thread.currentThread().getName() + ": " + error);
        }
    }

    private static void giveUp(String reason) {
        System.err.println(reason.replace('\n', ' '));
        Runtime.getRuntime().halt(1);
    }

    /** Runs a block and returns the answer to it. */
    private String block(long first, long count, boolean isVerified) throws Exception {
        this.first = first;
        this.count = count;
        this.isVerified = isVerified;
        long cpu = cpuNs();
        doors.await();
        doors.await(LIMIT_S, TimeUnit.SECONDS);
        cpu = cpuNs() - cpu;
        long end = starts[0];
        for (int rank = 1; rank < participants; rank++) {
            if (wrongs[rank] != null) {
                return "wrong " + wrongs[rank];
            }
            if (sums[rank] != sums[1]) {
                return "wrong receiver " + rank + " found another sum than the first";
            }
            end = Math.max(end, ends[rank]);
        }
        return String.format("done %d %d %d %s",
            end - starts[0], ends[0] - starts[0], cpu, Long.toUnsignedString(sums[1]));
    }

    /** CPU time of all of the program's threads, the driver's among them; not the compiler's. */
    private static long cpuNs() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long sum = 0;
        for (long id : threads.getAllThreadIds()) {
            sum += Math.max(0, threads.getThreadCpuTime(id));
        }
        return sum;
    }

    private void warmUp() throws Exception {
        long count = Math.min(WARM_MESSAGES, Math.max(1, WARM_BYTES / bytes));
        long begin = System.nanoTime();
        for (int blocks = 0; System.nanoTime() - begin < WARM_NS; blocks++) {
            block(0, count, blocks % 4 == 0);
        }
    }

    private void serve() throws Exception {
        StringBuilder ready = new StringBuilder("ready");
        for (long id : threadIds) {
            ready.append(' ').append(id);
        }
        System.out.println(ready);
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            String[] words = line.split(" ");
            System.out.println(block(Long.parseLong(words[1]), Long.parseLong(words[2]), words[0].equals("check")));
        }
    }

    /** The work of a thread in a block. */
    private interface Part {
        void perform(int rank);
    }

    private final class Sender implements Part {
        private final ExclusivePublication publication;
        private final BufferClaim claim = new BufferClaim();
        /** Where a message is written that is too long to be written in place. */
        private final MutableDirectBuffer elsewhere = new ExpandableArrayBuffer(bytes);

        Sender(ExclusivePublication publication) {
            this.publication = publication;
        }

        @Override
        public void perform(int rank) {
            boolean isInPlace = bytes <= publication.maxPayloadLength();
            for (long number = first; number < first + count; number++) {
                if (isInPlace) {
                    claim(number);
                } else {
                    offer(number);
                }
            }
            ends[rank] = System.nanoTime();
        }

        private void claim(long number) {
            long position = publication.tryClaim(bytes, claim);
            while (position < 0) {
                await(position);
                position = publication.tryClaim(bytes, claim);
            }
            Pattern.write(claim.buffer(), claim.offset(), bytes, number);
            claim.commit();
        }

        private void offer(long number) {
            Pattern.write(elsewhere, 0, bytes, number);
            long position = publication.offer(elsewhere, 0, bytes);
            while (position < 0) {
                await(position);
                position = publication.offer(elsewhere, 0, bytes);
            }
        }

        private void await(long refusal) {
            if (refusal == Publication.CLOSED || refusal == Publication.MAX_POSITION_EXCEEDED) {
                throw new IllegalStateException("the publication refuses with " + refusal);
            }
            idle.idle();
        }
    }

    private final class Receiver implements Part, FragmentHandler {
        private final Subscription subscription;
        private final FragmentHandler handler;
        private long next;
        private long sum;
        private String wrong;
        /** Nobody else's fields shall lie on the lines of those above. */
        private long pad0, pad1, pad2, pad3, pad4, pad5, pad6, pad7, pad8, pad9, padA, padB, padC, padD, padE, padF;

        Receiver(Subscription subscription) {
            this.subscription = subscription;
            boolean isInPieces = bytes > MTU_BYTES - DataHeaderFlyweight.HEADER_LENGTH;
            handler = isInPieces ? new FragmentAssembler(this, bytes) : this;
        }

        @Override
        public void perform(int rank) {
            next = first;
            sum = 0;
            while (next < first + count) {
                if (subscription.poll(handler, POLLED) == 0) {
                    idle.idle();
                }
            }
            ends[rank] = System.nanoTime();
            sums[rank] = sum;
            wrongs[rank] = wrong;
        }

        @Override
        public void onFragment(DirectBuffer buffer, int offset, int length, Header header) {
            if (isVerified && wrong == null && !Pattern.equals(buffer, offset, length, bytes, next)) {
                wrong = "message " + next + " of " + length + " bytes is not what was sent";
            }
            sum += Pattern.sum(buffer, offset, length);
            next++;
        }
    }

    /** The bytes of a message, as the harness's module pattern has them. */
    private static final class Pattern {
        private static final long BY_NUMBER = 0x9e3779b97f4a7c15L;
        private static final long BY_WORD = 0x2545f4914f6cdd1dL;

        static void write(MutableDirectBuffer buffer, int offset, int length, long number) {
            long word = number * BY_NUMBER;
            int at = offset;
            for (int end = offset + (length & -8); at < end; at += 8, word += BY_WORD) {
                buffer.putLong(at, word, ByteOrder.LITTLE_ENDIAN);
            }
            for (int end = offset + length; at < end; at++, word >>>= 8) {
                buffer.putByte(at, (byte) word);
            }
        }

        static long sum(DirectBuffer buffer, int offset, int length) {
            long sum = 0;
            int at = offset;
            for (int end = offset + (length & -8); at < end; at += 8) {
                sum += buffer.getLong(at, ByteOrder.LITTLE_ENDIAN);
            }
            for (int end = offset + length; at < end; at++) {
                sum += buffer.getByte(at) & 0xff;
            }
            return sum;
        }

        static boolean equals(DirectBuffer buffer, int offset, int length, int expected, long number) {
            boolean isEqual = length == expected;
            long word = number * BY_NUMBER;
            for (int i = 0; i < length; i++) {
                isEqual &= buffer.getByte(offset + i) == (byte) (word >>> 8 * (i & 7));
                word += (i & 7) == 7 ? BY_WORD : 0;
            }
            return isEqual;
        }
    }
}
