import java.util.*;

/** An epoch, and an offset: where it begins, or up to where something was appended in it. */
record Begun(long epoch, int first) {}

/** A record of a log; its batch begins at the offset base. */
record Appended(long epoch, long size, int base) {}

/** Where a read ended, and how many bytes it took. */
record Read(int end, long bytes) {}

/** What a leader knows of a follower, which asked last for end. */
final class Follower {
    Long caughtUpMs;
    Long fetchedMs;
    int end;
    int leaderEnd;
}

/** A partition of this broker: its log, and its followers while it leads. */
final class Replica {
    boolean leads;
    long epoch = -1;
    int epochStart;
    int highWatermark;
    final List<Appended> records = new ArrayList<>();
    /** The first offset of each. */
    final List<Integer> segments = new ArrayList<>(List.of(0));
    /** Each with its first offset. */
    final List<Begun> epochs = new ArrayList<>();
    Set<Long> inSync = new HashSet<>();
    Map<Long, Follower> followers = new LinkedHashMap<>();

    static long sum(List<Long> sizes) {
        return sizes.stream().mapToLong(size -> size).sum();
    }

    /** Returns the offset of the next record. */
    int end() {
        return records.size();
    }

    /** Returns up to where a follower reads, or for null a consumer. */
    int endFor(Long replicaId) {
        return replicaId == null ? highWatermark : end();
    }

    /** Returns where the batch of an offset begins, or the end if it lies there. */
    int base(int offset) {
        return offset < end() ? records.get(offset).base() : end();
    }

    /** Returns where the batch behind the batch of an offset begins. */
    int after(int offset) {
        int after = offset;
        while (after < end() && base(after) == base(offset)) {
            after++;
        }
        return after;
    }

    /** Returns how many bytes lie in front of the batch of an offset. */
    long position(int offset) {
        return records.stream().limit(base(offset)).mapToLong(Appended::size).sum();
    }

    /** Appends a batch, to a new segment if it does not fit; returns its first offset. */
    int append(List<Long> sizes, long segmentBytes) {
        int first = end();
        long used = position(first) - position(segments.get(segments.size() - 1));
        if (used > 0 && used + sum(sizes) > segmentBytes) {
            segments.add(first);
        }
        sizes.forEach(size -> records.add(new Appended(epoch, size, first)));
        return first;
    }

    /** Drops the records from an offset on. */
    void truncate(int offset) {
        records.subList(offset, end()).clear();
        segments.removeIf(first -> first > offset);
        epochs.removeIf(one -> one.first() >= offset);
        highWatermark = Math.min(highWatermark, offset);
    }

    /** Returns the largest epoch up to this one, or this one if all are newer. */
    long knownEpoch(long last) {
        return epochs.stream().mapToLong(Begun::epoch).filter(one -> one <= last).max().orElse(last);
    }

    /** Returns where the largest epoch up to this one ends. */
    int endOfEpoch(long last) {
        return epochs.stream().filter(one -> one.epoch() > last).findFirst()
                .map(Begun::first).orElse(end());
    }

    /** Returns where a log that ends at offset in the epoch last parts from this one, or null. */
    Fields diverging(long offset, Long last) {
        if (last == null || knownEpoch(last) >= last && endOfEpoch(last) >= offset) {
            return null;
        }
        return new Fields().with("leader_epoch", knownEpoch(last))
                .with("end_offset", endOfEpoch(last));
    }

    /** Returns the end of what is read, from one segment, and how many bytes that takes. */
    Read read(int offset, int limit, long room, boolean isFirst) {
        int end = limit;
        for (int first : segments) {
            end = first > offset ? Math.min(end, first) : end;
        }
        if (end <= offset) {
            return new Read(offset, 0);
        }
        long begin = position(offset);
        long needed = position(after(offset)) - begin;
        long most = needed <= room ? room : isFirst ? needed : 0;
        int last = offset;
        while (last < end && after(last) <= end && position(after(last)) - begin <= most) {
            last = after(last);
        }
        return new Read(last, Math.min(position(end) - begin, most));
    }
}
