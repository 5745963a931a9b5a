package wheelproof.netty;

/** Starts the driver of a project's wheel among classes that run on the virtual clock. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        ClassLoader loader = new VirtualTimeLoader(Main.class.getClassLoader());
        Class<?> driver = loader.loadClass("wheelproof.netty.HashedWheelDriver");
        ((Runnable) driver.getDeclaredConstructor(String.class).newInstance(arguments[0])).run();
    }
}
