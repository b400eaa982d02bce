package dev.weir.test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;

/** Connectors that fail in the ways that a worker must survive. */
public final class BadConnectors {
    private BadConnectors() {}

    /** Does what its `fault` says, in its task. */
    public static class FaultyTask extends SingleTaskSource {
        @Override public void start(Map<String, String> given) {
            if ("endless-start".equals(given.get("fault"))) for (;;) Thread.onSpinWait();
            if ("throw-start".equals(given.get("fault"))) throw new IllegalStateException("start does not work");
            super.start(given);
        }

        @Override public Class<? extends Task> taskClass() {
            return FaultySourceTask.class;
        }
    }

    public static class FaultySourceTask extends SourceTask {
        private String fault;
        /** Receives the id of this process when `poll` is about to loop. */
        private String looping;
        private final List<byte[]> memory = new ArrayList<>();

        @Override public void start(Map<String, String> config) {
            fault = config.get("fault");
            looping = config.get("looping");
        }

        @Override public List<SourceRecord> poll() throws InterruptedException {
            switch (fault) {
                case "throw": throw new IllegalStateException("the origin is broken");
                case "exit": System.exit(7); break;
                case "memory": for (;;) memory.add(new byte[1 << 20]);
                case "endless": writeProcessId(); for (;;) Thread.onSpinWait();
                default: Thread.sleep(100);
            }
            return null;
        }

        private void writeProcessId() {
            try {
                Files.writeString(Path.of(looping), Long.toString(ProcessHandle.current().pid()));
            } catch (IOException error) {
                throw new IllegalStateException(error);
            }
        }

        @Override public void stop() {}

        @Override public String version() {
            return "1";
        }
    }

    /** Its class is removed after the compilation, as that of an optional dependency. */
    public static class OptionalDependency {}

    public static class LackingDependency extends FaultyTask {
        private final Object dependency = new OptionalDependency();
    }

    public static class ThrowingConstructor extends FaultyTask {
        public ThrowingConstructor() {
            throw new IllegalStateException("no constructor today");
        }
    }

    public static class ThrowingInitializer extends FaultyTask {
        static {
            if (true) throw new IllegalStateException("no class today");
        }
    }
}
