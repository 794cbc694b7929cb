package io.millrace.train.algorithm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.millrace.contract.Task;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class AlgorithmsTest {
    private static final Algorithm XGBOOST = Algorithms.of("xgboost");

    @Test
    void answersToAliasesInAnyCase() {
        assertThat(Algorithms.of("XGB_Binary")).isSameAs(XGBOOST);
    }

    @Test
    void namesTheNearestOfAnUnknownOne() {
        assertThatThrownBy(() -> Algorithms.of("xgbost"))
                .hasMessage("algorithm must be a known one: algorithm=xgbost, nearest=xgboost");
    }

    @Test
    void answersWithCanonicalNames() throws JsonProcessingException {
        assertThat(XGBOOST.check(json("{'learning_rate': 0.1, 'num_boost_round': 50, 'grow_policy': 'lossguide'}")))
                .containsEntry("eta", 0.1)
                .containsEntry("n_estimators", 50L)
                .containsEntry("grow_policy", "lossguide");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'eta': 0} | hyper-parameter must be in its range: name=eta, value=0, range=above 0.0..1.0",
                "{'eta': '0.1'} | hyper-parameter must be in its range: name=eta, value=\"0.1\", range=above 0.0..1.0",
                "{'max_depth': 2.5} | hyper-parameter must be in its range: name=max_depth, value=2.5, range=1..32",
                "{'grow_policy': 'x'} | hyper-parameter must be in its range: name=grow_policy, value=\"x\","
                        + " range=depthwise or lossguide",
                "{'eta': 0.1, 'learning_rate': 0.1} | hyper-parameter must be given once: name=eta, again"
                        + " as=learning_rate",
                "{'lamda': 1} | hyper-parameter must be one the algorithm has: algorithm=xgboost, name=lamda,"
                        + " nearest=lambda",
                "[1] | hyper-parameters must be a JSON object: type=ARRAY",
            })
    void refuses(String asked, String message) {
        assertThatThrownBy(() -> XGBOOST.check(json(asked)))
                .isInstanceOf(HyperParameterException.class)
                .hasMessage(message);
    }

    @Test
    void choosesTheObjectiveByTheTask() {
        assertThat(XGBOOST.objective(null, Task.CLASSIFICATION, 2)).isEqualTo(Objective.BINARY_LOGISTIC);
        assertThat(XGBOOST.objective(null, Task.CLASSIFICATION, 3)).isEqualTo(Objective.MULTI_SOFTPROB);
        assertThat(XGBOOST.objective(null, Task.REGRESSION, 0)).isEqualTo(Objective.SQUARED_ERROR);
        assertThat(XGBOOST.objective("count:poisson", Task.REGRESSION, 0)).isEqualTo(Objective.POISSON);
        assertThatThrownBy(() -> XGBOOST.objective("reg:gamma", Task.CLASSIFICATION, 2))
                .hasMessage("objective must fit the task: objective=reg:gamma, task=CLASSIFICATION, classes=2,"
                        + " fitting=[binary:logistic]");
    }

    private static JsonNode json(String text) throws JsonProcessingException {
        return new ObjectMapper().readTree(text.replace('\'', '"'));
    }
}
