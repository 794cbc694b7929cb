package io.millrace.cdc.build;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Function;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Changes three methods of the connector. The patched classes are written among this module's own classes, from where they are shaded
 * instead of the originals.
 *
 * <ul>
 *   <li>The protocol decoder reads names through the shim.
 *   <li>The replication stream no longer confirms by itself what the server says it has sent. It does so when nothing seems to be
 *       unconfirmed, and mistakes a message without a position, the description of a table, for the last one: then the slot moves
 *       behind transactions that no checkpoint holds.
 *   <li>The coordinator looks every second, not every half minute, whether its reader is ready for what is new. A table that is added
 *       to a running job waits for that look before it is loaded.
 * </ul>
 */
public final class ConnectorPatch {
    private static final String DECODER =
            "io/debezium/connector/postgresql/connection/pgoutput/PgOutputMessageDecoder.class";
    private static final String STREAM = "org/postgresql/core/v3/replication/V3PGReplicationStream.class";
    private static final String COORDINATOR =
            "org/apache/flink/cdc/connectors/base/source/enumerator/IncrementalSourceEnumerator.class";

    private ConnectorPatch() {}

    /** Argument: the directory of this module's classes. */
    public static void main(String[] arguments) throws IOException {
        Path classes = Path.of(arguments[0]);
        patch(classes, DECODER, NameReading::new);
        patch(classes, STREAM, KeepAlive::new);
        patch(classes, COORDINATOR, ReaderSync::new);
    }

    private static void patch(Path classes, String name, Function<ClassVisitor, Patch> change) throws IOException {
        Path target = classes.resolve(name);
        Path directory = target.getParent();
        if (directory == null) {
            throw new IOException("class must be in a directory: path=" + target);
        }
        Files.createDirectories(directory);
        // The original may be hidden by an earlier run's result on the class path.
        Files.deleteIfExists(target);
        try (InputStream original = ConnectorPatch.class.getClassLoader().getResourceAsStream(name)) {
            if (original == null) {
                throw new IOException("class must be on the class path: name=" + name);
            }
            ClassReader reader = new ClassReader(original.readAllBytes());
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            Patch patch = change.apply(writer);
            reader.accept(patch, 0);
            if (!patch.applied) {
                throw new IOException("method to be patched must be as expected: class=" + name);
            }
            Files.write(target, writer.toByteArray());
        }
    }

    /** Changes the methods of one name. */
    private abstract static class Patch extends ClassVisitor {
        private final String method;
        boolean applied;

        Patch(ClassVisitor next, String method) {
            super(Opcodes.ASM9, next);
            this.method = method;
        }

        @Override
        public MethodVisitor visitMethod(
                int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor original = super.visitMethod(access, name, descriptor, signature, exceptions);
            return name.equals(method) ? change(original, descriptor) : original;
        }

        /** What reads the method's instructions and writes the changed ones to {@code method}. */
        abstract MethodVisitor change(MethodVisitor method, String descriptor);
    }

    /** Replaces the method's body by a call of the shim. */
    private static final class NameReading extends Patch {
        private static final String DESCRIPTOR = "(Ljava/nio/ByteBuffer;)Ljava/lang/String;";
        private static final String READER = "io/millrace/cdc/shim/NameReader";

        NameReading(ClassVisitor next) {
            super(next, "readString");
        }

        @Override
        MethodVisitor change(MethodVisitor method, String descriptor) {
            if (!descriptor.equals(DESCRIPTOR)) {
                return method;
            }
            applied = true;
            method.visitCode();
            method.visitVarInsn(Opcodes.ALOAD, 0);
            method.visitMethodInsn(Opcodes.INVOKESTATIC, READER, "read", DESCRIPTOR, false);
            method.visitInsn(Opcodes.ARETURN);
            method.visitMaxs(0, 0);
            method.visitEnd();
            return new MethodVisitor(Opcodes.ASM9) {};
        }
    }

    /** Leaves the confirmed position alone when the server tells its own. */
    private static final class KeepAlive extends Patch {
        private static final String CONFIRMED = "lastFlushedLSN";

        KeepAlive(ClassVisitor next) {
            super(next, "processKeepAliveMessage");
        }

        @Override
        MethodVisitor change(MethodVisitor method, String descriptor) {
            return new MethodVisitor(Opcodes.ASM9, method) {
                @Override
                public void visitFieldInsn(int opcode, String owner, String field, String type) {
                    if (opcode == Opcodes.PUTFIELD && field.equals(CONFIRMED)) {
                        applied = true;
                        super.visitInsn(Opcodes.POP2);
                    } else {
                        super.visitFieldInsn(opcode, owner, field, type);
                    }
                }
            };
        }
    }

    /** Shortens the pause between two looks at the reader, and the one before the first. */
    private static final class ReaderSync extends Patch {
        private static final Long ORIGINAL_MILLIS = 30_000L;
        private static final Long MILLIS = 1_000L;

        ReaderSync(ClassVisitor next) {
            super(next, "start");
        }

        @Override
        MethodVisitor change(MethodVisitor method, String descriptor) {
            return new MethodVisitor(Opcodes.ASM9, method) {
                @Override
                public void visitLdcInsn(Object value) {
                    boolean isPause = value.equals(ORIGINAL_MILLIS);
                    applied |= isPause;
                    super.visitLdcInsn(isPause ? MILLIS : value);
                }
            };
        }
    }
}
