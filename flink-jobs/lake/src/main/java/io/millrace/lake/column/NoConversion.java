package io.millrace.lake.column;

import org.apache.parquet.column.Dictionary;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.io.api.Converter;
import org.apache.parquet.io.api.GroupConverter;
import org.apache.parquet.io.api.PrimitiveConverter;

/**
 * What parquet-java wants for assembling records, which is not done here: columns are read one by one. It must claim to know
 * dictionaries, or the reader hides dictionary ids.
 */
final class NoConversion extends GroupConverter {
    private static final PrimitiveConverter NOTHING = new PrimitiveConverter() {
        @Override
        public boolean hasDictionarySupport() {
            return true;
        }

        @Override
        public void setDictionary(Dictionary dictionary) {}

        @Override
        public void addValueFromDictionary(int id) {}

        @Override
        public void addBinary(Binary value) {}

        @Override
        public void addBoolean(boolean value) {}

        @Override
        public void addDouble(double value) {}

        @Override
        public void addFloat(float value) {}

        @Override
        public void addInt(int value) {}

        @Override
        public void addLong(long value) {}
    };

    @Override
    public Converter getConverter(int fieldIndex) {
        return NOTHING;
    }

    @Override
    public void start() {}

    @Override
    public void end() {}
}
