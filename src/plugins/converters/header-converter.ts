import { type Converter, defineHeaderConverter, type HeaderConverter, type z } from '../../sdk/index.ts'

/** Kafka's converters are also header converters. They use neither the topic nor the name of the header. */
const NO_TOPIC = ''

/** Adapts a synchronous converter to headers. Converters that use a registry are asynchronous and cannot be adapted. */
export function asHeaderConverter<Config extends z.ZodObject>(converter: Converter<Config>): HeaderConverter<Config> {
  const { kind: _, create, ...info } = converter
  return defineHeaderConverter({
    ...info,
    create(config, use) {
      const { fromConnect, toConnect } = create(config, { ...use, isKey: false })
      return {
        fromConnect: ({ schema, value }) => atOnce(fromConnect(NO_TOPIC, schema, value), info.class),
        toConnect: (key, bytes) => ({ key, ...atOnce(toConnect(NO_TOPIC, bytes), info.class) }),
      }
    },
  })
}

function atOnce<Result>(result: Result | Promise<Result>, name: string): Result {
  if (result instanceof Promise) throw new Error(`${name} is asynchronous: it cannot convert headers`)
  return result
}
