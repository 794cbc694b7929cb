package io.millrace.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SecretReferenceTest {
    @TempDir
    Path directory;

    @Test
    void readsAFileAtEachUse() throws IOException {
        Path file = Files.writeString(directory.resolve("password"), "first\n");
        SecretReference secret = SecretReference.parse("file:" + file);
        assertThat(secret.read()).contains("first");
        Files.writeString(file, "second");
        assertThat(secret.read()).contains("second");
    }

    @Test
    void readsAVariable() {
        assertThat(SecretReference.parse("env:PATH").read()).contains(System.getenv("PATH"));
    }

    @Test
    void printsTheReferenceOnly() throws IOException {
        Path file = Files.writeString(directory.resolve("password"), "hunter2");
        assertThat(SecretReference.parse("file:" + file)).hasToString("file:" + file);
    }

    @Test
    void emptyIsNoSecret() {
        assertThat(SecretReference.parse("")).isEqualTo(SecretReference.NONE);
        assertThat(SecretReference.NONE.read()).isEmpty();
    }

    @Test
    void rejectsWhatCannotBeRead() {
        assertThatThrownBy(() ->
                        SecretReference.parse("env:MILLRACE_NO_SUCH_VARIABLE").read())
                .isInstanceOf(ContractException.class)
                .hasMessage("secret cannot be read: reference=env:MILLRACE_NO_SUCH_VARIABLE");
        assertThatThrownBy(() -> SecretReference.parse("file:/no/such/file").read())
                .hasMessage("secret cannot be read: reference=file:/no/such/file");
    }

    @Test
    void rejectsAPlainSecretWithoutRepeatingIt() {
        assertThatThrownBy(() -> SecretReference.parse("hunter2"))
                .isInstanceOf(ContractException.class)
                .hasMessage("secret must be a reference: expected=env:NAME or file:PATH");
        assertThatThrownBy(() -> SecretReference.parse("env:")).isInstanceOf(ContractException.class);
    }

    @Test
    void resolveKeepsPlainValues() throws IOException {
        Path file = Files.writeString(directory.resolve("key"), "abc");
        assertThat(SecretReference.resolve("us-east-1")).isEqualTo("us-east-1");
        assertThat(SecretReference.resolve("file:///var/lib/store")).isEqualTo("file:///var/lib/store");
        assertThat(SecretReference.resolve("file:" + file)).isEqualTo("abc");
    }
}
