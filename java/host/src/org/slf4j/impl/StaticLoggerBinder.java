package org.slf4j.impl;

import dev.weir.host.JsonLoggerFactory;
import org.slf4j.ILoggerFactory;
import org.slf4j.spi.LoggerFactoryBinder;

/** Where SLF4J 1.7 looks for what writes log lines. */
public final class StaticLoggerBinder implements LoggerFactoryBinder {
    /** Read by SLF4J. */
    public static final String REQUESTED_API_VERSION = "1.7";

    private static final StaticLoggerBinder SINGLETON = new StaticLoggerBinder();
    private final JsonLoggerFactory factory = new JsonLoggerFactory();

    private StaticLoggerBinder() {}

    public static StaticLoggerBinder getSingleton() {
        return SINGLETON;
    }

    @Override
    public ILoggerFactory getLoggerFactory() {
        return factory;
    }

    @Override
    public String getLoggerFactoryClassStr() {
        return JsonLoggerFactory.class.getName();
    }
}
