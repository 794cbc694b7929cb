package io.millrace.cdc.build;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Replaces the body of one method of the connector's protocol decoder by a call of the shim. The patched class is written among this
 * module's own classes, from where it is shaded instead of the original.
 */
public final class NameReaderPatch {
    private static final String DECODER =
            "io/debezium/connector/postgresql/connection/pgoutput/PgOutputMessageDecoder.class";
    private static final String METHOD = "readString";
    private static final String DESCRIPTOR = "(Ljava/nio/ByteBuffer;)Ljava/lang/String;";
    private static final String READER = "io/millrace/cdc/shim/NameReader";

    private NameReaderPatch() {}

    /** Argument: the directory of this module's classes. */
    public static void main(String[] arguments) throws IOException {
        Path target = Path.of(arguments[0]).resolve(DECODER);
        Path directory = target.getParent();
        if (directory == null) {
            throw new IOException("class must be in a directory: path=" + target);
        }
        Files.createDirectories(directory);
        // The original may be hidden by an earlier run's result on the class path.
        Files.deleteIfExists(target);
        try (InputStream original = NameReaderPatch.class.getClassLoader().getResourceAsStream(DECODER)) {
            if (original == null) {
                throw new IOException("class must be on the class path: name=" + DECODER);
            }
            Files.write(target, patch(original.readAllBytes()));
        }
    }

    private static byte[] patch(byte[] original) throws IOException {
        ClassReader reader = new ClassReader(original);
        ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
        Body body = new Body(writer);
        reader.accept(body, 0);
        if (!body.replaced) {
            throw new IOException("method must exist: name=" + METHOD + ", descriptor=" + DESCRIPTOR);
        }
        return writer.toByteArray();
    }

    private static final class Body extends ClassVisitor {
        private boolean replaced;

        Body(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor method = super.visitMethod(access, name, descriptor, signature, exceptions);
            if (!name.equals(METHOD) || !descriptor.equals(DESCRIPTOR)) {
                return method;
            }
            replaced = true;
            method.visitCode();
            method.visitVarInsn(Opcodes.ALOAD, 0);
            method.visitMethodInsn(Opcodes.INVOKESTATIC, READER, "read", DESCRIPTOR, false);
            method.visitInsn(Opcodes.ARETURN);
            method.visitMaxs(0, 0);
            method.visitEnd();
            return new MethodVisitor(Opcodes.ASM9) {};
        }
    }
}
