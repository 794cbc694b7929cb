package io.millrace.lake;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.ContractException;
import io.millrace.contract.ErrorCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * A source table as it is captured: its names, its key and its columns in the order of the table.
 *
 * @param relation schema and table, both quoted as SQL quotes them
 * @param schemaName unquoted
 * @param tableName unquoted
 * @param keyColumns at least one, each the name of a column
 * @param columns at least one, names distinct
 */
public record CapturedTable(
        String relation, String schemaName, String tableName, List<String> keyColumns, List<SourceColumn> columns) {
    private static final ObjectMapper JSON = new ObjectMapper();

    public CapturedTable {
        keyColumns = List.copyOf(keyColumns);
        columns = List.copyOf(columns);
        Set<String> names = new HashSet<>();
        for (SourceColumn column : columns) {
            if (!names.add(column.name())) {
                throw invalid("column name is repeated: relation=" + relation + ", column=" + column.name());
            }
        }
        if (keyColumns.isEmpty()) {
            throw invalid("captured table must have a key: relation=" + relation);
        }
        for (String key : keyColumns) {
            if (!names.contains(key)) {
                throw invalid("key column is not a column of the table: relation=" + relation + ", column=" + key);
            }
        }
    }

    /**
     * Builds the description from the row of {@code ml.captured_tables}.
     *
     * @param columnsJson array of {@code {"name", "pg-type", "nullable", "kind"}} in the order of the table; other members
     *     are ignored
     * @throws ContractException {@link ErrorCode#INVALID_VALUE} if the text is no such array
     */
    public static CapturedTable parse(
            String relation, String schemaName, String tableName, List<String> keyColumns, String columnsJson) {
        JsonNode array;
        try {
            array = JSON.readTree(columnsJson);
        } catch (JsonProcessingException e) {
            throw new ContractException(
                    ErrorCode.INVALID_VALUE, "columns of a captured table are no JSON: relation=" + relation, e);
        }
        if (array == null || !array.isArray()) {
            throw invalid("columns of a captured table must be an array: relation=" + relation);
        }
        List<SourceColumn> columns = new ArrayList<>();
        for (JsonNode node : array) {
            JsonNode name = node.path("name");
            JsonNode type = node.path("pg-type");
            if (!name.isTextual() || !type.isTextual()) {
                throw invalid("column of a captured table must have a name and a pg-type: relation=" + relation
                        + ", ordinal=" + columns.size());
            }
            columns.add(new SourceColumn(
                    name.asText(),
                    type.asText(),
                    node.path("nullable").asBoolean(true),
                    "e".equals(node.path("kind").asText())));
        }
        return new CapturedTable(relation, schemaName, tableName, keyColumns, columns);
    }

    private static ContractException invalid(String message) {
        return new ContractException(ErrorCode.INVALID_VALUE, message);
    }
}
