import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Keeps connections busy with infer requests and prints the requests per second: {@code PORT PATH ROWS.csv json|binary
 * ROWS CONNECTIONS SECONDS}. One thread and one socket for each connection; two seconds of warm-up.
 */
final class HttpLoad {
    private static final long WARM_UP_NANOS = 2_000_000_000L;

    private static volatile boolean stopping;
    private static final AtomicLong answers = new AtomicLong();

    private HttpLoad() {}

    public static void main(String[] arguments) throws Exception {
        int port = Integer.parseInt(arguments[0]);
        int connections = Integer.parseInt(arguments[5]);
        long measuredNanos = Long.parseLong(arguments[6]) * 1_000_000_000L;
        List<byte[]> requests = requests(arguments);
        List<Thread> threads = new ArrayList<>();
        for (int connection = 0; connection < connections; connection++) {
            int first = connection * requests.size() / connections;
            Thread thread = new Thread(() -> ask(port, requests, first));
            thread.start();
            threads.add(thread);
        }
        sleepNanos(WARM_UP_NANOS);
        long before = answers.get();
        long begin = System.nanoTime();
        sleepNanos(measuredNanos);
        long count = answers.get() - before;
        double seconds = (System.nanoTime() - begin) / 1e9;
        stopping = true;
        for (Thread thread : threads) {
            thread.join();
        }
        System.out.printf(Locale.ROOT, "%.0f%n", count / seconds);
    }

    private static void sleepNanos(long nanos) throws InterruptedException {
        Thread.sleep(nanos / 1_000_000);
    }

    private static List<byte[]> requests(String[] arguments) throws IOException {
        boolean binary = arguments[3].equals("binary");
        int rowCount = Integer.parseInt(arguments[4]);
        List<String> rows = Files.readAllLines(Path.of(arguments[2]));
        List<byte[]> requests = new ArrayList<>();
        for (int first = 0; first + rowCount <= rows.size(); first += rowCount) {
            String values = String.join(",", rows.subList(first, first + rowCount));
            int width = rows.get(first).split(",").length;
            String head = "{\"inputs\":[{\"name\":\"m\",\"shape\":[" + rowCount + "," + width + "],\"datatype\":\"FP64\",";
            requests.add(
                    binary
                            ? binary(arguments[1], head, values)
                            : request(arguments[1], "", bytes(head + "\"data\":[" + values + "]}]}"), new byte[0]));
        }
        return requests;
    }

    private static byte[] binary(String path, String head, String values) {
        String[] numbers = values.split(",");
        ByteBuffer tensor = ByteBuffer.allocate(8 * numbers.length).order(ByteOrder.LITTLE_ENDIAN);
        for (String number : numbers) {
            tensor.putDouble(Double.parseDouble(number));
        }
        byte[] json = bytes(head + "\"parameters\":{\"binary_data_size\":" + tensor.capacity()
                + "}}],\"parameters\":{\"binary_data_output\":true}}");
        return request(path, "Inference-Header-Content-Length: " + json.length + "\r\n", json, tensor.array());
    }

    private static byte[] request(String path, String header, byte[] json, byte[] tensor) {
        ByteArrayOutputStream request = new ByteArrayOutputStream();
        request.writeBytes(bytes("POST " + path + " HTTP/1.1\r\nHost: localhost\r\n" + header + "Content-Length: "
                + (json.length + tensor.length) + "\r\n\r\n"));
        request.writeBytes(json);
        request.writeBytes(tensor);
        return request.toByteArray();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static void ask(int port, List<byte[]> requests, int first) {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setTcpNoDelay(true);
            InputStream in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
            for (int next = first; !stopping; next++) {
                socket.getOutputStream().write(requests.get(next % requests.size()));
                read(in);
                answers.incrementAndGet();
            }
        } catch (IOException e) {
            System.err.println("request failed: " + e.getMessage());
            System.exit(1);
        }
    }

    private static void read(InputStream in) throws IOException {
        int length = 0;
        String line = line(in);
        if (!line.startsWith("HTTP/1.1 200 ")) {
            throw new IOException(line);
        }
        for (line = line(in); !line.isEmpty(); line = line(in)) {
            if (line.regionMatches(true, 0, "Content-Length:", 0, 15)) {
                length = Integer.parseInt(line.substring(15).strip());
            }
        }
        in.skipNBytes(length);
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new IOException("connection ended");
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }
}
