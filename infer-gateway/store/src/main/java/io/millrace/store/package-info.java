/**
 * The model store: immutable packages in a file system or an object store, published so that a reader sees a whole package
 * or none, and fetched into a local cache only after every byte is verified against the manifest. The one package that
 * sees OpenDAL; it knows nothing of engines or of who deploys.
 */
@NullMarked
package io.millrace.store;

import org.jspecify.annotations.NullMarked;
