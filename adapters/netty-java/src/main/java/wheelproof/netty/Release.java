package wheelproof.netty;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Properties;

/** Which release of a project is driven. */
public final class Release {
    private static final Map<String, String> GROUPS =
            Map.of("netty-common", "io.netty", "dubbo-common", "org.apache.dubbo");

    private Release() {}

    /** Returns the name of the jar with the project's wheel. */
    public static String nameOf(String project) {
        return project + "-common";
    }

    /** Reads the version out of that jar. */
    public static String versionOf(String project) throws IOException {
        String name = nameOf(project);
        String file = "/META-INF/maven/" + GROUPS.get(name) + "/" + name + "/pom.properties";
        Properties properties = new Properties();
        try (InputStream stream = Release.class.getResourceAsStream(file)) {
            properties.load(stream);
        }
        return properties.getProperty("version");
    }
}
