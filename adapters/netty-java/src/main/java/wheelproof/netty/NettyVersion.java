package wheelproof.netty;

import io.netty.util.internal.PlatformDependent;
import java.io.IOException;
import java.io.InputStream;
import java.util.Properties;

/** Which release is driven. */
public final class NettyVersion {
    private NettyVersion() {}

    /** Reads the version out of the very jar that the wheel's neighbours were loaded from. */
    public static String read() throws IOException {
        Properties properties = new Properties();
        String file = "/META-INF/maven/io.netty/netty-common/pom.properties";
        try (InputStream stream = PlatformDependent.class.getResourceAsStream(file)) {
            properties.load(stream);
        }
        return properties.getProperty("version");
    }
}
