import java.nio.file.*;
import java.util.*;
import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.producer.*;
import org.apache.kafka.common.serialization.*;

/** Sends each line of a file as a record, to partitions in turn: Produce BROKERS TOPIC FILE. */
class Produce {
    public static void main(String[] words) throws Exception {
        var brokers = Map.<String, Object>of("bootstrap.servers", words[0]);
        try (var admin = Admin.create(brokers)) {
            if (!admin.listTopics().names().get().contains(words[1]))
                admin.createTopics(List.of(new NewTopic(words[1], 2, (short) 1))).all().get();
        }
        var bytes = new ByteArraySerializer();
        try (var producer = new KafkaProducer<byte[], byte[]>(brokers, bytes, bytes)) {
            int number = 0;
            for (String line : Files.readAllLines(Path.of(words[2])))
                producer.send(new ProducerRecord<>(words[1], number++ / 3 % 2, null, line.getBytes())).get();
        }
    }
}
