package io.millrace.train.testing;

import io.millrace.contract.Column;
import io.millrace.contract.ColumnType;
import io.millrace.contract.RowReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** A CSV file in memory: an empty cell is NULL, a column of whole numbers INT64, of numbers FLOAT64, else TEXT. */
public final class CsvTable {
    private static final Pattern WHOLE = Pattern.compile("-?\\d{1,18}");
    private static final Pattern NUMBER = Pattern.compile("-?\\d+(\\.\\d+)?([eE]-?\\d+)?");

    private final List<Column> columns = new ArrayList<>();
    private final List<List<String>> rows;

    private CsvTable(List<List<String>> lines) {
        rows = lines.subList(1, lines.size());
        for (int index = 0; index < lines.get(0).size(); index++) {
            columns.add(new Column(lines.get(0).get(index), type(index), true));
        }
    }

    /** The table the demo trains on: label {@code churn}, yes or no. */
    public static CsvTable churn() throws IOException {
        return read(Path.of("..", "scripts", "demo.d", "churn.csv"));
    }

    /** Label {@code Status}, good or bad; cells are missing. */
    public static CsvTable credit() throws IOException {
        return read(Path.of("src", "test", "resources", "tables", "credit.csv"));
    }

    /** Label {@code Sale_Price}, a number; many text columns. */
    public static CsvTable ames() throws IOException {
        return read(Path.of("src", "test", "resources", "tables", "ames.csv"));
    }

    static CsvTable read(Path file) throws IOException {
        List<List<String>> lines = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            lines.add(cells(line));
        }
        return new CsvTable(lines);
    }

    private static List<String> cells(String line) {
        List<String> cells = new ArrayList<>();
        StringBuilder cell = new StringBuilder();
        boolean quoted = false;
        for (int index = 0; index < line.length(); index++) {
            char c = line.charAt(index);
            if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                cells.add(cell.toString());
                cell.setLength(0);
            } else {
                cell.append(c);
            }
        }
        cells.add(cell.toString());
        return cells;
    }

    private ColumnType type(int index) {
        List<String> values = rows.stream()
                .map(row -> row.get(index))
                .filter(cell -> !cell.isEmpty())
                .toList();
        if (values.stream().allMatch(cell -> WHOLE.matcher(cell).matches())) {
            return ColumnType.INT64;
        }
        return values.stream().allMatch(cell -> NUMBER.matcher(cell).matches()) ? ColumnType.FLOAT64 : ColumnType.TEXT;
    }

    public List<Column> columns() {
        return columns;
    }

    public int rowCount() {
        return rows.size();
    }

    /** All values of a column but NULL. */
    public List<String> values(int column) {
        return rows.stream()
                .map(row -> row.get(column))
                .filter(cell -> !cell.isEmpty())
                .toList();
    }

    public int indexOf(String name) {
        for (int index = 0; index < columns.size(); index++) {
            if (columns.get(index).name().equals(name)) {
                return index;
            }
        }
        throw new IllegalArgumentException("column must exist: name=" + name);
    }

    /** A row; its columns in the order of the file. */
    public RowReader row(int index) {
        List<String> cells = rows.get(index);
        return new RowReader() {
            @Override
            public boolean isNull(int column) {
                return cells.get(column).isEmpty();
            }

            @Override
            public boolean booleanValue(int column) {
                return Boolean.parseBoolean(cells.get(column));
            }

            @Override
            public long int64(int column) {
                return Long.parseLong(cells.get(column));
            }

            @Override
            public double float64(int column) {
                return Double.parseDouble(cells.get(column));
            }

            @Override
            public String text(int column) {
                return cells.get(column);
            }
        };
    }
}
