package io.millrace.gateway.http;

import io.millrace.contract.envelope.ModelReference;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.eclipse.jetty.http.HttpStatus;
import org.jspecify.annotations.Nullable;

/** The projects of a database with their models, as one look at it found them. Immutable; any thread. */
final class Catalog {
    /**
     * A model that can be asked for.
     *
     * @param reference with the limits of its project
     * @param format of its package
     * @param tenantKey who asks, for the limits: the same as that of SQL
     */
    record Model(ModelReference reference, String format, long tenantKey) {}

    /**
     * A project.
     *
     * @param deployedId model that answers when no version is named; null for none
     * @param models by model id
     */
    record Project(String name, @Nullable Long deployedId, SortedMap<Long, Model> models) {}

    private final SortedMap<String, Project> projects;

    Catalog(Map<String, Project> projects) {
        this.projects = new TreeMap<>(projects);
    }

    /** In the order of their names. */
    Iterable<Project> projects() {
        return projects.values();
    }

    /**
     * A project.
     *
     * @throws Refusal if there is none of that name
     */
    Project project(String name) {
        Project project = projects.get(name);
        if (project == null) {
            throw new Refusal(HttpStatus.NOT_FOUND_404, "project does not exist: project=" + name);
        }
        return project;
    }

    /**
     * The model that answers.
     *
     * @param version model id; null for the deployed one
     * @throws Refusal if the project does not exist, or has no such model
     */
    Model model(String projectName, @Nullable String version) {
        Project project = project(projectName);
        Long deployedId = project.deployedId();
        String wanted = version != null ? version : deployedId != null ? Long.toString(deployedId) : null;
        if (wanted == null) {
            throw new Refusal(HttpStatus.NOT_FOUND_404, "project has no deployed model: project=" + projectName);
        }
        Model model = wanted.matches("[1-9][0-9]{0,17}") ? project.models().get(Long.valueOf(wanted)) : null;
        if (model == null) {
            throw new Refusal(
                    HttpStatus.NOT_FOUND_404,
                    "version must be a model of the project: project=" + projectName + ", version=" + wanted);
        }
        return model;
    }
}
