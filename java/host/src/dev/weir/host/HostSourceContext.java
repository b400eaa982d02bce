package dev.weir.host;

import java.util.Map;
import org.apache.kafka.common.metrics.PluginMetrics;
import org.apache.kafka.connect.source.SourceTaskContext;
import org.apache.kafka.connect.source.TransactionContext;
import org.apache.kafka.connect.storage.OffsetStorageReader;

record HostSourceContext(
    Map<String, String> configs, OffsetStorageReader offsetStorageReader, SourceTransactions transactions,
    PluginMetrics pluginMetrics)
    implements SourceTaskContext {

    /** Null where the worker, and not the task, ends transactions. */
    @Override
    public TransactionContext transactionContext() {
        return transactions;
    }
}
