package wheelproof.purgatories;

import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.Lock;
import net.bytebuddy.ByteBuddy;
import net.bytebuddy.description.modifier.Visibility;
import net.bytebuddy.implementation.MethodDelegation;
import net.bytebuddy.implementation.bind.annotation.SuperCall;
import net.bytebuddy.implementation.bind.annotation.This;
import net.bytebuddy.matcher.ElementMatchers;
import wheelproof.recording.PurgatoryUnderLoad;

/**
 * The purgatory of whatever Kafka is on the class path, from 0.9 to 3.9.
 *
 * <p>Its classes are found by name: constructors and a few methods differ from version to version.
 * The subclass of DelayedOperation, which a user has to write, is made when the program begins.
 */
public final class OldPurgatory implements PurgatoryUnderLoad {
    private static final Class<?> PURGATORY = find("kafka.server.DelayedOperationPurgatory");
    private static final Class<?> LIST = find("scala.collection.immutable.List");
    private static final Constructor<?> OPERATION = subclass();

    private final Object purgatory;

    /** Makes one with a timer of its own and a reaper. */
    public OldPurgatory(int purgeInterval) {
        purgatory = has("apply")
                ? call(null, PURGATORY, "apply", "wheelproof", 0, purgeInterval, true, true)
                : make(PURGATORY.getConstructors()[0], "wheelproof", 0, purgeInterval);
    }

    /** What a generated operation does; ByteBuddy finds its methods by their names. */
    public static final class Calls {
        private final Body body;
        private final Runnable afterTest;

        Calls(Body body, Runnable afterTest) {
            this.body = body;
            this.afterTest = afterTest;
        }

        /** Whether it is done; whoever has asked can be held before it acts on the answer. */
        public boolean isCompleted(@SuperCall Callable<Boolean> asked) throws Exception {
            boolean completed = asked.call();
            afterTest.run();
            return completed;
        }

        /** The predicate. */
        public boolean tryComplete(@This Operation operation) {
            return body.tryComplete(operation);
        }

        /** The callback of the completion. */
        public void onComplete() {
            body.onComplete();
        }

        /** The callback of the expiry. */
        public void onExpiration() {
            body.onExpiration();
        }
    }

    @Override
    public Operation operation(long delayMs, Body body) {
        return operation(delayMs, body, null, () -> {});
    }

    /**
     * Makes an operation that is tried under `lock`, with null under one of its own.
     *
     * <p>Whoever asks whether it is completed runs `afterTest` then.
     */
    Operation operation(long delayMs, Body body, Lock lock, Runnable afterTest) {
        Operation made = (Operation) (takesLock()
                ? make(OPERATION, delayMs, call(null, find("scala.Option"), "apply", lock))
                : make(OPERATION, delayMs));
        try {
            Field calls = made.getClass().getField("calls");
            calls.set(made, new Calls(body, afterTest));
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
        return made;
    }

    /** Whether an operation can be given a lock. */
    static boolean takesLock() {
        return OPERATION.getParameterCount() == 2;
    }

    @Override
    public boolean tryCompleteElseWatch(Operation operation, List<String> keys) {
        Object list = scalaNil();
        for (String key : keys) {
            list = call(list, LIST, "$colon$colon", key);
        }
        return (boolean) call(purgatory, PURGATORY, "tryCompleteElseWatch", operation, list);
    }

    @Override
    public int checkAndComplete(String key) {
        return (int) call(purgatory, PURGATORY, "checkAndComplete", key);
    }

    @Override
    public boolean cancelsKeys() {
        return has("cancelForKey");
    }

    @Override
    public List<Operation> cancelForKey(String key) {
        List<Operation> cancelled = new ArrayList<>();
        Object left = call(purgatory, PURGATORY, "cancelForKey", key);
        while (left != scalaNil()) {
            cancelled.add((Operation) call(left, LIST, "head"));
            left = call(left, LIST, "tail");
        }
        return cancelled;
    }

    @Override
    public int watched() {
        return (int) call(purgatory, PURGATORY, "watched");
    }

    @Override
    public int numDelayed() {
        return (int) call(purgatory, PURGATORY, has("numDelayed") ? "numDelayed" : "delayed");
    }

    @Override
    public void shutdown() {
        call(purgatory, PURGATORY, "shutdown");
    }

    private static Constructor<?> subclass() {
        return new ByteBuddy()
                .subclass(find("kafka.server.DelayedOperation"))
                .implement(Operation.class)
                .defineField("calls", Calls.class, Visibility.PUBLIC)
                .method(ElementMatchers.isAbstract().and(
                        ElementMatchers.namedOneOf("tryComplete", "onComplete", "onExpiration")))
                .intercept(MethodDelegation.toField("calls"))
                .method(ElementMatchers.named("isCompleted"))
                .intercept(MethodDelegation.toField("calls"))
                .make()
                .load(OldPurgatory.class.getClassLoader())
                .getLoaded()
                .getConstructors()[0];
    }

    private static Object scalaNil() {
        try {
            return find("scala.collection.immutable.Nil$").getField("MODULE$").get(null);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static boolean has(String method) {
        return Arrays.stream(PURGATORY.getMethods()).anyMatch(it -> it.getName().equals(method));
    }

    private static Class<?> find(String name) {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException error) {
            throw new IllegalStateException(name + " is not on the class path", error);
        }
    }

    private static Object make(Constructor<?> constructor, Object... arguments) {
        try {
            return constructor.newInstance(arguments);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** Calls the method of this name, of which there is one with so many parameters. */
    private static Object call(Object target, Class<?> owner, String name, Object... arguments) {
        for (Method method : owner.getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length
                    && !method.isBridge()) {
                try {
                    return method.invoke(target, arguments);
                } catch (InvocationTargetException error) {
                    if (error.getCause() instanceof RuntimeException cause) {
                        throw cause;
                    }
                    throw new IllegalStateException(error.getCause());
                } catch (IllegalAccessException error) {
                    throw new IllegalStateException(error);
                }
            }
        }
        throw new IllegalStateException(owner.getName() + " has no method " + name);
    }
}
