package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class ProfileQueryTest {
    @Test
    void readsKindSecondsAndFormat() {
        assertThat(ProfileQuery.of("/debug/profile/cpu", null))
                .isEqualTo(new ProfileQuery(ProfileQuery.Kind.CPU, 60, ProfileQuery.Format.HTML));
        assertThat(ProfileQuery.of("/debug/profile/heap", "format=jfr&seconds=600"))
                .isEqualTo(new ProfileQuery(ProfileQuery.Kind.HEAP, 600, ProfileQuery.Format.JFR));
        assertThat(ProfileQuery.of("/debug/profile/native", "seconds=1&format=collapsed"))
                .isEqualTo(new ProfileQuery(ProfileQuery.Kind.NATIVE, 1, ProfileQuery.Format.COLLAPSED));
    }

    @Test
    void namesTheValueAndTheRangeOfWrongSeconds() {
        for (String seconds : new String[] {"0", "601", "99999999999", "-1", "1.5", "ten", ""}) {
            refuses(
                    "/debug/profile/cpu",
                    "seconds=" + seconds,
                    400,
                    "seconds must be a whole number: seconds=" + seconds + ", min=1, max=600");
        }
    }

    @Test
    void namesWhatIsUnknown() {
        String paths = ", paths=/metrics, /debug/profile/cpu, /debug/profile/heap, /debug/profile/native";
        refuses("/debug/profile", null, 404, "path is unknown: path=/debug/profile" + paths);
        refuses("/debug/profile/cpu/", null, 404, "path is unknown: path=/debug/profile/cpu/" + paths);
        refuses("/", null, 404, "path is unknown: path=/" + paths);
        refuses("/debug/profile/cpu", "format=svg", 400, "format is unknown: format=svg, formats=html, collapsed, jfr");
        refuses(
                "/debug/profile/cpu",
                "second=5",
                400,
                "parameter is unknown: parameter=second, parameters=seconds, format");
        refuses(
                "/debug/profile/native",
                "format=jfr",
                400,
                "native memory is not in JFR's recording: format=jfr, formats=html, collapsed");
    }

    private static void refuses(String path, @Nullable String query, int status, String message) {
        assertThatThrownBy(() -> ProfileQuery.of(path, query))
                .isInstanceOfSatisfying(
                        ProfileException.class,
                        refusal -> assertThat(refusal.status()).isEqualTo(status))
                .hasMessage(message);
    }
}
