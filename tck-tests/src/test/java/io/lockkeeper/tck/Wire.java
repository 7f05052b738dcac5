// SPDX-License-Identifier: Apache-2.0
package io.lockkeeper.tck;

import io.lockkeeper.LockkeeperException;
import io.lockkeeper.StoreUnavailableException;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/**
 * The values of the SPI as bytes: a tag, then the value. Records go component by component, so that a change of the SPI
 * needs none here. Only classes of Lockkeeper's own are ever made from a name.
 */
final class Wire {
    private static final String OURS = "io.lockkeeper.";

    private enum Tag {
        NULL,
        TRUE,
        FALSE,
        INT,
        LONG,
        STRING,
        DURATION,
        INSTANT,
        EMPTY,
        PRESENT,
        LIST,
        SET,
        ENUM,
        RECORD,
        LASTING,
        PASSING,
        FAILURE
    }

    private Wire() {}

    static void write(DataOutputStream out, Object value) throws IOException {
        if (value == null) {
            tag(out, Tag.NULL);
        } else if (value instanceof Boolean truth) {
            tag(out, truth ? Tag.TRUE : Tag.FALSE);
        } else if (value instanceof Integer number) {
            tag(out, Tag.INT).writeInt(number);
        } else if (value instanceof Long number) {
            tag(out, Tag.LONG).writeLong(number);
        } else if (value instanceof String text) {
            tag(out, Tag.STRING).writeUTF(text);
        } else if (value instanceof Duration duration) {
            tag(out, Tag.DURATION).writeLong(duration.getSeconds());
            out.writeInt(duration.getNano());
        } else if (value instanceof Instant instant) {
            tag(out, Tag.INSTANT).writeLong(instant.getEpochSecond());
            out.writeInt(instant.getNano());
        } else if (value instanceof Optional<?> optional) {
            tag(out, optional.isEmpty() ? Tag.EMPTY : Tag.PRESENT);
            if (optional.isPresent()) {
                write(out, optional.get());
            }
        } else if (value instanceof Collection<?> all) {
            tag(out, all instanceof List ? Tag.LIST : Tag.SET).writeInt(all.size());
            for (Object one : all) {
                write(out, one);
            }
        } else if (value instanceof Enum<?> constant) {
            tag(out, Tag.ENUM).writeUTF(constant.getDeclaringClass().getName());
            out.writeUTF(constant.name());
        } else if (value instanceof Record record) {
            tag(out, Tag.RECORD).writeUTF(record.getClass().getName());
            writeComponents(out, record);
        } else if (value instanceof Throwable failure) {
            boolean isOfStore = value instanceof StoreUnavailableException;
            boolean passes = value instanceof StoreUnavailableException e && e.worthRepeating();
            tag(out, passes ? Tag.PASSING : isOfStore ? Tag.LASTING : Tag.FAILURE)
                    .writeUTF(failure.toString());
        } else {
            throw new IOException("cannot send " + value.getClass());
        }
    }

    private static DataOutputStream tag(DataOutputStream out, Tag tag) throws IOException {
        out.writeUTF(tag.name());
        return out;
    }

    private static void writeComponents(DataOutputStream out, Record record) throws IOException {
        try {
            for (RecordComponent component : record.getClass().getRecordComponents()) {
                write(out, component.getAccessor().invoke(record));
            }
        } catch (ReflectiveOperationException e) {
            throw new IOException("cannot send " + record, e);
        }
    }

    static Object read(DataInputStream in) throws IOException {
        return switch (Tag.valueOf(in.readUTF())) {
            case NULL -> null;
            case TRUE -> true;
            case FALSE -> false;
            case INT -> in.readInt();
            case LONG -> in.readLong();
            case STRING -> in.readUTF();
            case DURATION -> Duration.ofSeconds(in.readLong(), in.readInt());
            case INSTANT -> Instant.ofEpochSecond(in.readLong(), in.readInt());
            case EMPTY -> Optional.empty();
            case PRESENT -> Optional.of(read(in));
            case LIST -> readAll(in);
            case SET -> new HashSet<>(readAll(in));
            case ENUM -> readEnum(in);
            case RECORD -> readRecord(in);
            case LASTING -> StoreUnavailableException.lasting(in.readUTF(), null);
            case PASSING -> new StoreUnavailableException(in.readUTF(), null);
            case FAILURE -> new LockkeeperException(in.readUTF());
        };
    }

    private static List<Object> readAll(DataInputStream in) throws IOException {
        int size = in.readInt();
        List<Object> all = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            all.add(read(in));
        }
        return all;
    }

    private static Object readEnum(DataInputStream in) throws IOException {
        Class<?> type = ours(in.readUTF());
        String name = in.readUTF();
        for (Object constant : type.getEnumConstants()) {
            if (((Enum<?>) constant).name().equals(name)) {
                return constant;
            }
        }
        throw new IOException(type + " has no " + name);
    }

    private static Object readRecord(DataInputStream in) throws IOException {
        Class<?> type = ours(in.readUTF());
        RecordComponent[] components = type.getRecordComponents();
        Class<?>[] types = new Class<?>[components.length];
        Object[] values = new Object[components.length];
        for (int i = 0; i < components.length; i++) {
            types[i] = components[i].getType();
            values[i] = read(in);
        }
        try {
            return type.getDeclaredConstructor(types).newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IOException("cannot make a " + type, e);
        }
    }

    private static Class<?> ours(String name) throws IOException {
        try {
            Class<?> type = name.startsWith(OURS) ? Class.forName(name) : Object.class;
            if (type.isRecord() || type.isEnum()) {
                return type;
            }
        } catch (ClassNotFoundException e) {
            throw new IOException("no such class here: " + name, e);
        }
        throw new IOException("not a value of ours: " + name);
    }
}
