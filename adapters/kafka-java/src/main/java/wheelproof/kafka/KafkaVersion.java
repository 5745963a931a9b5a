package wheelproof.kafka;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.util.Properties;
import org.apache.kafka.server.util.timer.TimingWheel;

/** Which release is driven. */
public final class KafkaVersion {
    private KafkaVersion() {}

    /** Reads the version out of the very jar that the wheel was loaded from. */
    public static String read() throws IOException {
        var jar = TimingWheel.class.getProtectionDomain().getCodeSource().getLocation();
        var entry = URI.create("jar:" + jar + "!/kafka/kafka-version.properties").toURL();
        Properties properties = new Properties();
        try (InputStream stream = entry.openStream()) {
            properties.load(stream);
        }
        return properties.getProperty("version");
    }
}
