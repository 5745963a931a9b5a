package wheelproof.kafka;

import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;

/** Private fields and methods of Kafka's classes, which a release may rename. */
public final class Internals {
    private static final ClassValue<Map<String, Method>> METHODS = new ClassValue<>() {
        @Override
        protected Map<String, Method> computeValue(Class<?> declaring) {
            Map<String, Method> methods = new HashMap<>();
            for (Method method : declaring.getDeclaredMethods()) {
                if (!method.isSynthetic()) {
                    method.setAccessible(true);
                    methods.put(method.getName(), method);
                }
            }
            return methods;
        }
    };

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

    /** Calls the only method of this name that class `declaring` declares. */
    public static Object call(
            Class<?> declaring, Object owner, String name, Object... arguments) {
        Method method = METHODS.get(declaring).get(name);
        try {
            if (method == null) {
                throw new NoSuchMethodException(name);
            }
            return method.invoke(owner, arguments);
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
