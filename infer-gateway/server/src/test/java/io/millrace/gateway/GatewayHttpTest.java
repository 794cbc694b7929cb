package io.millrace.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.millrace.contract.ErrorCode;
import io.millrace.contract.layout.RequestKind;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** HTTP as a part of the gateway; what it answers is HttpConnectorTest's. */
class GatewayHttpTest {
    private static HttpResponse<String> get(int port, String path) throws Exception {
        return HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
    }

    /** A port that nobody listens on. */
    private static int closedPort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    @Test
    void isThereBesideSharedMemoryAndNeedsNoDatabaseToLive() throws Exception {
        try (TestingGateway testing =
                        new TestingGateway(Map.of("http-port", "0", "database-port", Integer.toString(closedPort())));
                TestingClient client = testing.client()) {
            int port = testing.gateway().httpPort();
            assertThat(get(port, "/v2/health/live").statusCode()).isEqualTo(200);
            assertThat(get(port, "/v2/health/ready").statusCode()).isEqualTo(503);
            assertThat(client.call(RequestKind.ECHO, new byte[] {1}).status()).isEqualTo(ErrorCode.OK);
            assertThat(get(testing.gateway().metricsPort(), "/metrics").body())
                    .contains("\nmillrace_http_in_flight 0.0\n", "\nmillrace_http_request_bytes 0.0\n")
                    .containsPattern("\nmillrace_http_connections [1-9]");
        }
    }

    @Test
    void isOffUnlessItHasAPort() throws Exception {
        try (TestingGateway testing = new TestingGateway(Map.of())) {
            assertThat(testing.gateway().httpPort()).isEqualTo(-1);
        }
    }

    @Test
    void aPortThatIsTakenEndsTheStart() throws Exception {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            assertThatThrownBy(() -> new TestingGateway(Map.of("http-port", Integer.toString(taken.getLocalPort()))))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("Failed to bind to /127.0.0.1:" + taken.getLocalPort());
        }
    }
}
