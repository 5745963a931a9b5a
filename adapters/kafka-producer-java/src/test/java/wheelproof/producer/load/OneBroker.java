package wheelproof.producer.load;

import java.io.OutputStream;
import java.io.PrintStream;

/** A real broker, alone, which is its own controller: it formats its folder and serves. */
public final class OneBroker {
    private OneBroker() {}

    /** Runs until it is ended; the argument is its file of properties. */
    public static void main(String[] arguments) throws Exception {
        String[] format = {"format", "-t", "d2hlZWxwcm9vZg-d2hlZWw", "-c", arguments[0]};
        PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
        // Kafka's core is not compiled against: this module needs its clients alone.
        Class.forName("kafka.tools.StorageTool")
                .getMethod("execute", String[].class, PrintStream.class)
                .invoke(null, format, nowhere);
        Class.forName("kafka.Kafka")
                .getMethod("main", String[].class)
                .invoke(null, (Object) arguments);
    }
}
