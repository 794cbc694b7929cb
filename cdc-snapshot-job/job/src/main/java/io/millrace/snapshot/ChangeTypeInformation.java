package io.millrace.snapshot;

import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.jspecify.annotations.Nullable;

/** Tells Flink how a {@link Change} travels. */
public final class ChangeTypeInformation extends TypeInformation<Change> {
    private static final long serialVersionUID = 1L;

    @Override
    public boolean isBasicType() {
        return false;
    }

    @Override
    public boolean isTupleType() {
        return false;
    }

    @Override
    public int getArity() {
        return 1;
    }

    @Override
    public int getTotalFields() {
        return 1;
    }

    @Override
    public Class<Change> getTypeClass() {
        return Change.class;
    }

    @Override
    public boolean isKeyType() {
        return false;
    }

    @Override
    public TypeSerializer<Change> createSerializer(SerializerConfig config) {
        return ChangeSerializer.INSTANCE;
    }

    @Override
    public String toString() {
        return "Change";
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof ChangeTypeInformation;
    }

    @Override
    public int hashCode() {
        return ChangeTypeInformation.class.hashCode();
    }

    @Override
    public boolean canEqual(Object other) {
        return other instanceof ChangeTypeInformation;
    }
}
