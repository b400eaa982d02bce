import type { z } from 'zod'
import type {
  ConfigProvider,
  Converter,
  HeaderConverter,
  Predicate,
  SinkConnector,
  SourceConnector,
  Transform,
} from './plugin.ts'

// Each function sets the kind of a plugin and lets the compiler infer the type of `config` from the zod object.

export function defineSource<Config extends z.ZodObject>(
  plugin: Omit<SourceConnector<Config>, 'kind'>,
): SourceConnector<Config> {
  return { kind: 'source', ...plugin }
}

export function defineSink<Config extends z.ZodObject>(
  plugin: Omit<SinkConnector<Config>, 'kind'>,
): SinkConnector<Config> {
  return { kind: 'sink', ...plugin }
}

export function defineConverter<Config extends z.ZodObject>(
  plugin: Omit<Converter<Config>, 'kind'>,
): Converter<Config> {
  return { kind: 'converter', ...plugin }
}

export function defineHeaderConverter<Config extends z.ZodObject>(
  plugin: Omit<HeaderConverter<Config>, 'kind'>,
): HeaderConverter<Config> {
  return { kind: 'header_converter', ...plugin }
}

export function defineTransform<Config extends z.ZodObject>(
  plugin: Omit<Transform<Config>, 'kind'>,
): Transform<Config> {
  return { kind: 'transformation', ...plugin }
}

export function definePredicate<Config extends z.ZodObject>(
  plugin: Omit<Predicate<Config>, 'kind'>,
): Predicate<Config> {
  return { kind: 'predicate', ...plugin }
}

export function defineProvider<Config extends z.ZodObject>(
  plugin: Omit<ConfigProvider<Config>, 'kind'>,
): ConfigProvider<Config> {
  return { kind: 'provider', ...plugin }
}
