package io.millrace.gateway.profile;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordedStackTrace;
import jdk.jfr.consumer.RecordedThread;
import org.jspecify.annotations.Nullable;

/** Names of what JFR recorded, the same for everything that a reader would call the same. */
final class JavaFrames {
    /** Numbers that differ from run to run, behind names of classes that are made at run time. */
    private static final Pattern GENERATED = Pattern.compile("\\$\\$Lambda[$/].*|/0x[0-9a-f]+$|\\+0x[0-9a-f]+$");

    private static final Pattern NUMBER = Pattern.compile("[0-9]+");

    private JavaFrames() {}

    /** A thread, those of a pool as one. */
    static Frame thread(@Nullable RecordedThread thread) {
        String name = thread == null ? null : thread.getJavaName();
        return new Frame(name == null ? "[unknown thread]" : threadName(name), Frame.Origin.THREAD);
    }

    static String threadName(String name) {
        return "[" + NUMBER.matcher(name).replaceAll("*") + "]";
    }

    /** The thread and the frames, outermost first; {@code trace} null for a stack that could not be walked. */
    static List<Frame> stack(@Nullable RecordedThread thread, @Nullable RecordedStackTrace trace) {
        List<Frame> frames = new ArrayList<>();
        if (trace != null) {
            for (RecordedFrame frame : trace.getFrames()) {
                frames.add(frame(frame));
            }
            if (trace.isTruncated()) {
                frames.add(new Frame("[callers beyond JFR's stack depth]", Frame.Origin.JDK));
            }
        }
        frames.add(thread(thread));
        Collections.reverse(frames);
        return frames;
    }

    private static Frame frame(RecordedFrame frame) {
        RecordedMethod method = frame.getMethod();
        String type = className(method.getType().getName());
        boolean isNative = frame.getType().equals("Native");
        return new Frame(type + "." + method.getName(), isNative ? Frame.Origin.NATIVE : origin(type));
    }

    /** A class as its source would name it. */
    static Frame type(@Nullable RecordedClass type) {
        return new Frame(type == null ? "[unknown class]" : typeName(type.getName()), Frame.Origin.TYPE);
    }

    /**
     * A type as its source names it.
     *
     * @param name as {@link Class#getName} gives it
     */
    static String typeName(String name) {
        int dimensions = 0;
        while (dimensions < name.length() && name.charAt(dimensions) == '[') {
            dimensions++;
        }
        if (dimensions == 0) {
            return className(name);
        }
        String element = name.substring(dimensions);
        return switch (element.charAt(0)) {
                    case 'Z' -> "boolean";
                    case 'B' -> "byte";
                    case 'C' -> "char";
                    case 'S' -> "short";
                    case 'I' -> "int";
                    case 'J' -> "long";
                    case 'F' -> "float";
                    case 'D' -> "double";
                    default -> className(element.substring(1).replace(";", ""));
                }
                + "[]".repeat(dimensions);
    }

    static String className(String name) {
        return GENERATED.matcher(name).replaceFirst(name.contains("$$Lambda") ? "\\$\\$Lambda" : "");
    }

    static Frame.Origin origin(String type) {
        if (type.startsWith("io.millrace.")) {
            return Frame.Origin.PRODUCT;
        }
        for (String prefix : List.of("java.", "javax.", "jdk.", "sun.", "com.sun.")) {
            if (type.startsWith(prefix)) {
                return Frame.Origin.JDK;
            }
        }
        return Frame.Origin.DEPENDENCY;
    }
}
