package wheelproof.netty;

/** Starts the driver among classes that run on the virtual clock. */
final class Main {
    private Main() {}

    public static void main(String[] arguments) throws ReflectiveOperationException {
        ClassLoader loader = new VirtualTimeLoader(Main.class.getClassLoader());
        Class<?> driver = loader.loadClass("wheelproof.netty.HashedWheelDriver");
        ((Runnable) driver.getDeclaredConstructor().newInstance()).run();
    }
}
