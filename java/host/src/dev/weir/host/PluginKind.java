package dev.weir.host;

import org.apache.kafka.common.config.provider.ConfigProvider;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/** The kinds of plugin that a host serves, by the names that the worker has for them. */
enum PluginKind {
    SOURCE("source", SourceConnector.class),
    SINK("sink", SinkConnector.class),
    CONVERTER("converter", Converter.class),
    HEADER_CONVERTER("header_converter", HeaderConverter.class),
    TRANSFORMATION("transformation", Transformation.class),
    PREDICATE("predicate", Predicate.class),
    PROVIDER("provider", ConfigProvider.class);

    final String label;
    final Class<?> type;

    PluginKind(String label, Class<?> type) {
        this.label = label;
        this.type = type;
    }

    static PluginKind of(String label) {
        for (PluginKind kind : values()) if (kind.label.equals(label)) return kind;
        throw new ProtocolException("no kind of plugin is called '" + label + "'");
    }
}
