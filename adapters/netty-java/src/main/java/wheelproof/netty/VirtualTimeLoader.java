package wheelproof.netty;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Loads a HashedWheelTimer with two calls replaced, System.nanoTime and Thread.sleep; all its
 * other code is that of the released jar.
 */
final class VirtualTimeLoader extends ClassLoader {
    /** The wheels, and the classes that name one: all are loaded here. */
    private static final List<String> OWN = List.of(
            "io.netty.util.HashedWheelTimer",
            "org.apache.dubbo.common.timer.HashedWheelTimer",
            "wheelproof.netty.HashedWheelDriver",
            "wheelproof.netty.Wheel");
    private static final String CLOCK = "wheelproof/netty/VirtualClock";

    VirtualTimeLoader(ClassLoader parent) {
        super(parent);
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        boolean own = OWN.stream().anyMatch(name::startsWith);
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (!own || loaded != null) {
                return loaded != null ? loaded : super.loadClass(name, resolve);
            }
            byte[] code = onVirtualTime(name);
            return defineClass(name, code, 0, code.length);
        }
    }

    private byte[] onVirtualTime(String name) throws ClassNotFoundException {
        String file = name.replace('.', '/') + ".class";
        try (InputStream stream = getParent().getResourceAsStream(file)) {
            if (stream == null) {
                throw new ClassNotFoundException(name);
            }
            ClassReader reader = new ClassReader(stream);
            ClassWriter writer = new ClassWriter(reader, 0);
            reader.accept(new CallReplacer(writer), 0);
            return writer.toByteArray();
        } catch (IOException error) {
            throw new ClassNotFoundException(name, error);
        }
    }

    private static final class CallReplacer extends ClassVisitor {
        CallReplacer(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String type, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, type, signature, exceptions);
            return new MethodVisitor(Opcodes.ASM9, next) {
                @Override
                public void visitMethodInsn(
                        int code, String owner, String method, String methodType, boolean face) {
                    String call = owner + "." + method + methodType;
                    boolean ofTime = call.equals("java/lang/System.nanoTime()J")
                            || call.equals("java/lang/Thread.sleep(J)V");
                    super.visitMethodInsn(code, ofTime ? CLOCK : owner, method, methodType, face);
                }
            };
        }
    }
}
