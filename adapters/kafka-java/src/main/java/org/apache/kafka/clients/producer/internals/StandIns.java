package org.apache.kafka.clients.producer.internals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Buffers of any capacity, of which the large ones take no memory: nothing is put into them. */
final class StandIns {
    private static final int LARGE = 1 << 16;
    private static ByteBuffer hole;

    private StandIns() {}

    static synchronized ByteBuffer allocate(int size) {
        if (size < LARGE) {
            return ByteBuffer.allocate(size);
        }
        if (hole == null) {
            hole = hole();
        }
        return hole.slice(0, size);
    }

    /** Maps a file that is one hole. */
    private static ByteBuffer hole() {
        try {
            Path file = Files.createTempFile("stand-in", null);
            try (FileChannel channel = FileChannel.open(
                    file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
                return channel.map(MapMode.READ_WRITE, 0, Integer.MAX_VALUE);
            } finally {
                Files.delete(file);
            }
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }
}
