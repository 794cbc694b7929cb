package io.millrace.gateway.profile;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class FlamePageTest {
    private static final String BEGIN = "<script type=\"application/json\" id=\"data\">";

    private static String page(FlameTree tree) {
        return FlamePage.of(
                tree,
                FlamePage.Unit.BYTES,
                new FlamePage.Text("heap", 60, "A <title> & more", "what it means", List.of("60 s", "2 samples")));
    }

    private static JsonNode data(String page) throws IOException {
        int begin = page.indexOf(BEGIN) + BEGIN.length();
        return new ObjectMapper().readTree(page.substring(begin, page.indexOf("</script>", begin)));
    }

    @Test
    void holdsTheTreeWithEachNameOnce() throws IOException {
        FlameTree tree = new FlameTree(100);
        tree.add(FlameTreeTest.stack("run", "score", "run"), 7);
        tree.add(FlameTreeTest.stack("run"), 1);
        JsonNode data = data(page(tree));
        assertThat(data.get("unit").asText()).isEqualTo("bytes");
        assertThat(data.get("frames"))
                .hasToString("[[\"all\",\"thread\"],[\"run\",\"product\"],[\"score\",\"product\"]]");
        assertThat(data.get("tree")).hasToString("[0,8,0,[1,8,1,[2,7,0,[1,7,7]]]]");
        assertThat(data.get("facts")).hasToString("[\"60 s\",\"2 samples\"]");
    }

    @Test
    void leavesOutWhatIsTooNarrowToSee() throws IOException {
        FlameTree tree = new FlameTree(100);
        tree.add(FlameTreeTest.stack("run", "wide"), 1_000_000);
        tree.add(FlameTreeTest.stack("run", "narrow"), 10);
        JsonNode run = data(page(tree)).get("tree").get(3);
        assertThat(run.get(1).asLong()).as("the caller keeps all of its weight").isEqualTo(1_000_010);
        assertThat(run).as("frame, total, self and one child").hasSize(4);
    }

    @Test
    void namesAndTitlesCannotLeaveTheirPlace() throws IOException {
        FlameTree tree = new FlameTree(100);
        String name = "</script><script>alert(1)</script>{{data}}<!--";
        tree.add(FlameTreeTest.stack(name), 1);
        String page = page(tree);
        assertThat(data(page).get("frames").get(1).get(0).asText()).isEqualTo(name);
        assertThat(page).doesNotContain("alert(1)</").contains("<h1>A &lt;title&gt; &amp; more</h1>");
    }

    @Test
    void asksNobodyForAnything() {
        assertThat(page(new FlameTree(1))).doesNotContainPattern("(src|href)\\s*=\\s*[\"']|url\\(|@import|fetch\\(");
    }
}
