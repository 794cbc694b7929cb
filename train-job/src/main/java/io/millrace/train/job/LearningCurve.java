package io.millrace.train.job;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The watched metric of each round, thinned so that its size is bounded: every second point is dropped when it is full. */
final class LearningCurve implements Serializable {
    private static final long serialVersionUID = 1L;
    private static final int POINT_LIMIT = 256;

    private final ArrayList<Point> points = new ArrayList<>();
    private int step = 1;

    void add(int round, double train, double validation) {
        if (round % step != 0) {
            return;
        }
        points.add(new Point(round, train, validation));
        if (points.size() == POINT_LIMIT) {
            step *= 2;
            points.removeIf(point -> point.round() % step != 0);
        }
    }

    /** {@code [[round, train, validation], ..]}; a value that is not a number is null. */
    String toJson() {
        return points.stream().map(Point::toJson).collect(Collectors.joining(",", "[", "]"));
    }

    List<Integer> rounds() {
        return points.stream().map(Point::round).toList();
    }

    private record Point(int round, double train, double validation) implements Serializable {
        private String toJson() {
            return "[" + round + "," + number(train) + "," + number(validation) + "]";
        }

        private static String number(double value) {
            return Double.isFinite(value) ? Double.toString(value) : "null";
        }
    }
}
