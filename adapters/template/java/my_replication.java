import java.util.*;
import java.util.stream.*;

/** Your broker, seen from outside; each test case makes a new one. */
final class Mine {
    static final String NAME = "my-broker";
    static final String COMPONENT = "replication";
    static final String PROFILE = "wheelproof";
    static final List<String> ABLE = List.of();

    /** A produce that waits: the epoch and the end of each partition that is not replicated yet. */
    private record Produce(
            long expiresMs, Map<String, Fields> answers, Map<String, Begun> pending) {}

    private record Fetch(long expiresMs, Fields request) {}

    private final Fields config;
    private final long me;
    private long nowMs;
    private final Map<String, Replica> replicas = new LinkedHashMap<>();
    private final Map<String, Produce> produces = new LinkedHashMap<>();
    private final Map<String, Fetch> fetches = new LinkedHashMap<>();
    private List<Fields> produced = new ArrayList<>();
    private List<Fields> fetched = new ArrayList<>();

    /** Makes a broker without partitions, whose clock shows start_ms. */
    Mine(Fields config) {
        this.config = config;
        me = config.number("broker_id");
        nowMs = config.number("start_ms");
    }

    Fields perform(String operation, Fields args) {
        String partition = args.text("partition");
        Fields told = new Fields();
        switch (operation) {
            // Lead a partition in a new epoch.
            case "become_leader" -> becomeLeader(args);
            // Follow another broker in a new epoch.
            case "become_follower" -> {
                Replica replica = inNewEpoch(args);
                replica.leads = false;
                replica.followers = new LinkedHashMap<>();
                replica.inSync = new HashSet<>();
            }
            // Forget a partition and its log.
            case "stop_replica" -> replicas.remove(partition);
            // Drop the records of a followed partition from an offset on.
            case "truncate_as_follower" -> {
                Replica replica = replicas.get(partition);
                long offset = args.number("offset");
                require(replica != null && !replica.leads && 0 <= offset && offset <= replica.end(),
                        "a log is truncated while it is followed, up to its end");
                replica.truncate((int) offset);
            }
            // Drop followers that have fallen behind from the in-sync sets.
            case "maybe_shrink_in_sync" -> {
                for (Replica replica : replicas.values()) {
                    if (replica.inSync.removeIf(one -> one != me
                            && !isCaughtUp(replica, replica.followers.get(one)))) {
                        raiseHighWatermark(replica);
                    }
                }
            }
            // Append, and answer as soon as required_acks says.
            case "append_records" -> appendRecords(args);
            // Read, and note where a follower is; answer as soon as there is enough.
            case "fetch_messages" -> fetchMessages(args);
            // Tell how many watches and keys are left; what is done is dropped.
            case "purge_completed" -> watches(told);
            // Set the clock to to_ms; answer the requests whose time is over.
            case "advance" -> nowMs = args.number("to_ms");
            default -> throw new IllegalArgumentException(operation);
        }
        settle(operation.equals("advance"));
        return told;
    }

    /** Tells which requests have been answered since the last answer. */
    void happened(Fields told) {
        told.with("produced", produced).with("fetched", fetched)
                .with("num_delayed", produces.size() + fetches.size());
        produced = new ArrayList<>();
        fetched = new ArrayList<>();
    }

    private void becomeLeader(Fields args) {
        List<Long> ids = args.list("replica_ids");
        List<Long> inSync = args.list("in_sync_ids");
        require(inSync.contains(me) && ids.containsAll(inSync),
                "who is in sync is a replica, and the leader is in sync");
        Replica replica = inNewEpoch(args);
        int first = replica.end();
        Map<Long, Follower> before = replica.followers;
        replica.leads = true;
        replica.epochStart = first;
        replica.inSync = new HashSet<>(inSync);
        replica.epochs.removeIf(one -> one.first() >= first);
        replica.epochs.add(new Begun(replica.epoch, first));
        replica.followers = new LinkedHashMap<>();
        for (long id : ids) {
            if (id != me) {
                Follower follower = new Follower();
                follower.end = before.containsKey(id) ? before.get(id).end : -1;
                follower.caughtUpMs = inSync.contains(id) ? nowMs : null;
                replica.followers.put(id, follower);
            }
        }
        raiseHighWatermark(replica);
    }

    private void appendRecords(Fields args) {
        List<Fields> entries = args.list("entries");
        requireOnce(entries);
        require(entries.stream().noneMatch(one -> one.list("records").isEmpty()), "no records");
        long acks = args.number("required_acks");
        Produce produce = new Produce(
                nowMs + args.number("timeout_ms"), new LinkedHashMap<>(), new LinkedHashMap<>());
        for (Fields entry : entries) {
            String name = entry.text("partition");
            List<Long> sizes = new ArrayList<>();
            entry.<Fields>list("records").forEach(one -> sizes.add(one.number("size")));
            Replica replica = replicas.get(name);
            String error = refusalOfAppend(replica, acks, Replica.sum(sizes));
            int first = -1;
            if (error.equals("NONE")) {
                first = replica.append(sizes, config.number("segment_bytes"));
                raiseHighWatermark(replica);
                if (acks == -1) {
                    error = "REQUEST_TIMED_OUT";
                    produce.pending.put(name, new Begun(replica.epoch, replica.end()));
                }
            }
            produce.answers.put(name, new Fields().with("partition", name).with("error", error)
                    .with("base_offset", first));
        }
        produces.put(args.text("request"), produce);
    }

    private void fetchMessages(Fields args) {
        List<Fields> places = args.list("partitions");
        requireOnce(places);
        List<Fields> answers = new ArrayList<>();
        long bytes = read(args, answers);
        boolean mustNotWait = args.number("max_wait_ms") == 0 || places.isEmpty();
        for (int at = 0; at < places.size(); at++) {
            if (isRefusal(answers.get(at))) {
                mustNotWait = true;
            } else if (args.number("replica_id") != null) {
                noteFollower(args.number("replica_id"), places.get(at));
            }
        }
        String request = args.text("request");
        if (mustNotWait || bytes >= args.number("min_bytes")) {
            fetched.add(new Fields().with("request", request).with("partitions", answers));
        } else {
            fetches.put(request, new Fetch(nowMs + args.number("max_wait_ms"), args));
        }
    }

    private void watches(Fields told) {
        List<String> produceKeys = new ArrayList<>();
        produces.values().forEach(one -> produceKeys.addAll(one.answers.keySet()));
        List<String> fetchKeys = new ArrayList<>();
        for (Fetch fetch : fetches.values()) {
            fetch.request.<Fields>list("partitions").forEach(one -> fetchKeys.add(one.text("partition")));
        }
        told.with("watched", produceKeys.size() + fetchKeys.size())
                .with("num_keys", Set.copyOf(produceKeys).size() + Set.copyOf(fetchKeys).size());
    }

    /** Answers the requests that need not wait longer, with what there is. */
    private void settle(boolean clockMoved) {
        for (String request : List.copyOf(produces.keySet())) {
            Produce produce = produces.get(request);
            if (isReplicated(produce) || clockMoved && produce.expiresMs <= nowMs) {
                produces.remove(request);
                produced.add(new Fields().with("request", request)
                        .with("partitions", produce.answers.values()));
            }
        }
        for (String request : List.copyOf(fetches.keySet())) {
            Fetch fetch = fetches.get(request);
            if (hasEnough(fetch.request) || clockMoved && fetch.expiresMs <= nowMs) {
                fetches.remove(request);
                List<Fields> answers = new ArrayList<>();
                read(fetch.request, answers);
                fetched.add(new Fields().with("request", request).with("partitions", answers));
            }
        }
    }

    /** Notes what has become of the partitions of a produce; tells whether all have an end. */
    private boolean isReplicated(Produce produce) {
        for (String name : List.copyOf(produce.pending.keySet())) {
            Begun appended = produce.pending.get(name);
            String outcome = outcome(replicas.get(name), appended.epoch(), appended.first());
            if (outcome != null) {
                produce.pending.remove(name);
                produce.answers.get(name).with("error", outcome);
            }
        }
        return produce.pending.isEmpty();
    }

    /** Returns the outcome of an append of an epoch, up to end; null while it is open. */
    private String outcome(Replica replica, long epoch, int end) {
        if (replica == null) {
            return "UNKNOWN_TOPIC_OR_PARTITION";
        }
        if (!replica.leads || replica.knownEpoch(epoch) != epoch || replica.endOfEpoch(epoch) < end) {
            return "NOT_LEADER_OR_FOLLOWER";
        }
        if (replica.highWatermark < end) {
            return null;
        }
        return hasEnoughInSync(replica) ? "NONE" : "NOT_ENOUGH_REPLICAS_AFTER_APPEND";
    }

    /** Tells whether a fetch has enough bytes, or need not wait for another reason. */
    private boolean hasEnough(Fields request) {
        Long replicaId = request.number("replica_id");
        long bytes = 0;
        for (Fields one : request.<Fields>list("partitions")) {
            if (isRefusal(look(one, replicaId))) {
                return true;
            }
            Replica replica = replicas.get(one.text("partition"));
            int offset = one.number("fetch_offset").intValue();
            int end = replica.endFor(replicaId);
            int base = replica.base(offset);
            boolean isOlder = replica.segments.stream().anyMatch(at -> base < at && at <= end);
            if (offset != end && (base > end || isOlder)) {
                return true; // It begins beyond the end, or on an older segment.
            }
            long there = Math.max(replica.position(end) - replica.position(offset), 0);
            bytes += Math.min(there, one.number("max_bytes"));
        }
        return bytes >= request.number("min_bytes");
    }

    /** Adds the answers of a fetch to a list; returns how many bytes they take. */
    private long read(Fields request, List<Fields> answers) {
        Long replicaId = request.number("replica_id");
        long bytes = 0;
        for (Fields one : request.<Fields>list("partitions")) {
            Fields answer = look(one, replicaId);
            answers.add(answer);
            if (isRefusal(answer)) {
                continue;
            }
            Replica replica = replicas.get(one.text("partition"));
            int offset = one.number("fetch_offset").intValue();
            long left = Math.max(request.number("max_bytes") - bytes, 0);
            long room = Math.min(one.number("max_bytes"), left);
            Read read = replica.read(offset, replica.endFor(replicaId), room, bytes == 0);
            bytes += read.bytes();
            List<Fields> records = new ArrayList<>();
            for (int at = offset; at < read.end(); at++) {
                records.add(new Fields().with("offset", at)
                        .with("leader_epoch", replica.records.get(at).epoch())
                        .with("size", replica.records.get(at).size()));
            }
            answer.with("records", records);
        }
        return bytes;
    }

    /** Returns the answer for one partition, but for its records. */
    private Fields look(Fields one, Long replicaId) {
        Replica replica = replicas.get(one.text("partition"));
        String error = refusalOfFetch(one, replica, replicaId);
        Fields answer = new Fields().with("partition", one.text("partition")).with("error", error);
        if (!error.equals("NONE")) {
            return answer;
        }
        long offset = one.number("fetch_offset");
        Fields diverging = replica.diverging(offset, one.number("last_fetched_epoch"));
        if (diverging == null && offset > replica.end()) {
            return answer.with("error", "OFFSET_OUT_OF_RANGE");
        }
        answer.with("high_watermark", replica.highWatermark);
        return diverging == null ? answer : answer.with("diverging_epoch", diverging);
    }

    /** Notes how far a follower has come; it may be in sync again. */
    private void noteFollower(long id, Fields place) {
        Replica replica = replicas.get(place.text("partition"));
        Follower follower = replica.followers.get(id);
        int before = follower.end;
        int end = replica.end();
        follower.end = replica.base(place.number("fetch_offset").intValue());
        if (follower.end >= end) {
            follower.caughtUpMs = nowMs;
        } else if (follower.fetchedMs != null && follower.end >= follower.leaderEnd) {
            boolean later = follower.caughtUpMs != null && follower.caughtUpMs > follower.fetchedMs;
            follower.caughtUpMs = later ? follower.caughtUpMs : follower.fetchedMs;
        }
        follower.fetchedMs = nowMs;
        follower.leaderEnd = Math.max(follower.leaderEnd, end);
        boolean joins = follower.end >= Math.max(replica.highWatermark, replica.epochStart)
                && replica.inSync.add(id);
        if (joins || follower.end != before) {
            raiseHighWatermark(replica);
        }
    }

    /** Raises it to the least end of the replicas that are in sync, or are caught up. */
    private void raiseHighWatermark(Replica replica) {
        if (!hasEnoughInSync(replica)) {
            return;
        }
        int least = replica.end();
        for (Map.Entry<Long, Follower> one : replica.followers.entrySet()) {
            if (replica.inSync.contains(one.getKey()) || isCaughtUp(replica, one.getValue())) {
                least = Math.min(least, one.getValue().end);
            }
        }
        replica.highWatermark = Math.max(replica.highWatermark, least);
    }

    /** Returns the replica of a partition, in an epoch that has to be new. */
    private Replica inNewEpoch(Fields args) {
        Replica replica = replicas.getOrDefault(args.text("partition"), new Replica());
        long epoch = args.number("leader_epoch");
        require(epoch > replica.epoch, "the epoch is " + replica.epoch + " already");
        replica.epoch = epoch;
        replicas.put(args.text("partition"), replica);
        return replica;
    }

    /** Tells whether a follower has everything, or had a short time ago. */
    private boolean isCaughtUp(Replica replica, Follower follower) {
        long lagMs = config.number("replica_lag_time_max_ms");
        boolean had = follower.caughtUpMs != null && nowMs - follower.caughtUpMs <= lagMs;
        return had || follower.end == replica.end();
    }

    /** Tells whether as many replicas are in sync as have to be. */
    private boolean hasEnoughInSync(Replica replica) {
        long least = Math.min(config.number("min_in_sync_replicas"), 1 + replica.followers.size());
        return replica.inSync.size() >= least;
    }

    /** Returns why an append is refused; NONE if it is not. */
    private String refusalOfAppend(Replica replica, long acks, long size) {
        if (acks < -1 || acks > 1) {
            return "INVALID_REQUIRED_ACKS";
        }
        if (replica == null) {
            return "UNKNOWN_TOPIC_OR_PARTITION";
        }
        if (!replica.leads) {
            return "NOT_LEADER_OR_FOLLOWER";
        }
        if (acks == -1 && !hasEnoughInSync(replica)) {
            return "NOT_ENOUGH_REPLICAS";
        }
        return size > config.number("segment_bytes") ? "RECORD_LIST_TOO_LARGE" : "NONE";
    }

    /** Returns why a fetch is refused, be its offset in the log or not; NONE if it is not. */
    private static String refusalOfFetch(Fields one, Replica replica, Long replicaId) {
        Long epoch = one.number("current_leader_epoch");
        Long last = one.number("last_fetched_epoch");
        if (replica == null) {
            return "UNKNOWN_TOPIC_OR_PARTITION";
        }
        if (epoch != null && epoch != replica.epoch) {
            return epoch < replica.epoch ? "FENCED_LEADER_EPOCH" : "UNKNOWN_LEADER_EPOCH";
        }
        if (!replica.leads) {
            return "NOT_LEADER_OR_FOLLOWER";
        }
        if (replicaId != null && !replica.followers.containsKey(replicaId)) {
            return epoch == null ? "NOT_LEADER_OR_FOLLOWER" : "UNKNOWN_LEADER_EPOCH";
        }
        boolean knows = last == null || replica.epochs.stream().anyMatch(b -> b.epoch() >= last);
        return knows && one.number("fetch_offset") >= 0 ? "NONE" : "OFFSET_OUT_OF_RANGE";
    }

    /** Tells whether the answer for a partition says that it cannot be read there. */
    private static boolean isRefusal(Fields answer) {
        return !answer.text("error").equals("NONE") || answer.containsKey("diverging_epoch");
    }

    private static void requireOnce(List<Fields> places) {
        long names = places.stream().map(one -> one.text("partition")).distinct().count();
        require(names == places.size(), "a partition is named twice");
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
