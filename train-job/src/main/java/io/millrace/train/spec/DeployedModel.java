package io.millrace.train.spec;

/**
 * The model in force when a run was planned: what the new one must beat.
 *
 * @param modelId identity
 * @param uri its package in the model store
 * @param sha256 of the package's manifest
 * @param fittedId identity of its fitted preprocessing; empty if the database does not know it
 * @param bytes size of all files of the package
 */
public record DeployedModel(long modelId, String uri, String sha256, String fittedId, long bytes) {}
