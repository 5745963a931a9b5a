package wheelproof.kafka;

import java.lang.reflect.Field;

/** Private fields of Kafka's classes, which a release may rename. */
public final class Internals {
    private Internals() {}

    /** Reads a field that class `declaring` declares. */
    public static Object get(Class<?> declaring, Object owner, String name) {
        try {
            return field(declaring, name).get(owner);
        } catch (ReflectiveOperationException error) {
            throw unknown(declaring, name, error);
        }
    }

    /** Replaces the value of a field that class `declaring` declares. */
    public static void set(Class<?> declaring, Object owner, String name, Object value) {
        try {
            field(declaring, name).set(owner, value);
        } catch (ReflectiveOperationException error) {
            throw unknown(declaring, name, error);
        }
    }

    private static Field field(Class<?> declaring, String name) throws NoSuchFieldException {
        Field field = declaring.getDeclaredField(name);
        field.setAccessible(true);
        return field;
    }

    private static IllegalStateException unknown(
            Class<?> declaring, String name, ReflectiveOperationException error) {
        return new IllegalStateException(declaring + " of this release has no " + name, error);
    }
}
