package wheelproof.kafka;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.apache.kafka.server.purgatory.DelayedOperationPurgatory;

/** What a purgatory does by itself, and what it has inside. */
public final class Purgatories {
    private Purgatories() {}

    /** Does what the reaper, whose thread is not started, does again and again. */
    public static void reap(DelayedOperationPurgatory<?> purgatory) {
        Internals.call(DelayedOperationPurgatory.class, purgatory, "advanceClock", 0L);
    }

    /** The lists of those who wait, one a key, by shard; they change with the purgatory. */
    public static List<Collection<?>> watchers(DelayedOperationPurgatory<?> purgatory) {
        List<Collection<?>> found = new ArrayList<>();
        Object shards = Internals.get(DelayedOperationPurgatory.class, purgatory, "watcherLists");
        for (Object shard : (List<?>) shards) {
            found.add((Collection<?>) Internals.call(shard.getClass(), shard, "allWatchers"));
        }
        return found;
    }

    /** Drops what is done from the lists, as a pass of the reaper does now and then. */
    public static void purge(List<Collection<?>> shards) {
        for (Collection<?> shard : shards) {
            for (Object watchers : shard) {
                Internals.call(watchers.getClass(), watchers, "purgeCompleted");
            }
        }
    }

    /** How many keys have a list. */
    public static int numKeys(List<Collection<?>> shards) {
        return shards.stream().mapToInt(Collection::size).sum();
    }
}
