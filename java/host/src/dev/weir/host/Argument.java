package dev.weir.host;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The argument of an operation: an object whose members are read by name. */
final class Argument {
    private final Map<String, Object> members;

    Argument(FrameReader reader) {
        Object value = reader.readValue();
        if (!(value instanceof Map<?, ?>)) throw new ProtocolException("an operation needs an object");
        this.members = cast(value);
    }

    private Argument(Map<String, Object> members) {
        this.members = members;
    }

    boolean flag(String name) {
        return Boolean.TRUE.equals(members.get(name));
    }

    String text(String name) {
        return (String) required(name);
    }

    int number(String name) {
        return ((Number) required(name)).intValue();
    }

    List<Object> list(String name) {
        return cast(required(name));
    }

    /** Null if the member is absent. */
    Argument object(String name) {
        Object value = members.get(name);
        return value == null ? null : new Argument(Argument.<Map<String, Object>>cast(value));
    }

    List<Argument> objects(String name) {
        return list(name).stream().map((object) -> new Argument(Argument.<Map<String, Object>>cast(object))).toList();
    }

    /** A new map with the strings of a configuration. */
    Map<String, String> strings(String name) {
        Map<String, String> strings = new LinkedHashMap<>();
        Map<Object, Object> map = cast(required(name));
        map.forEach((key, value) -> strings.put((String) key, (String) value));
        return strings;
    }

    private Object required(String name) {
        Object value = members.get(name);
        if (value == null) throw new ProtocolException("an operation lacks '" + name + "'");
        return value;
    }

    /** What the worker sends is checked where it is used: a wrong class ends the connection. */
    @SuppressWarnings("unchecked")
    private static <T> T cast(Object value) {
        return (T) value;
    }
}
