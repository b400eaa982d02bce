import type { JavaPluginKind } from '../plugin-location.ts'

/** The types of the Connect API that make a class a plugin, with the manifests in which classes are listed. */
const API_TYPES: ReadonlyMap<string, JavaPluginKind> = new Map([
  ['org.apache.kafka.connect.source.SourceConnector', 'source'],
  ['org.apache.kafka.connect.sink.SinkConnector', 'sink'],
  ['org.apache.kafka.connect.storage.Converter', 'converter'],
  ['org.apache.kafka.connect.storage.HeaderConverter', 'header_converter'],
  ['org.apache.kafka.connect.transforms.Transformation', 'transformation'],
  ['org.apache.kafka.connect.transforms.predicates.Predicate', 'predicate'],
  ['org.apache.kafka.common.config.provider.ConfigProvider', 'provider'],
])

/** Kafka Connect finds config providers by their manifests only. */
const FOUND_BY_MANIFEST_ONLY: JavaPluginKind = 'provider'

const CONVERTERS: readonly JavaPluginKind[] = ['converter', 'header_converter']

/** Classes of Kafka that plugins extend, but do not have in their own jars. */
const KAFKA_CLASSES: readonly (readonly [pattern: RegExp, kinds: readonly JavaPluginKind[]])[] = [
  [
    /^org\.apache\.kafka\.connect\.(?:storage\.StringConverter|json\.JsonConverter|converters\.\w+Converter)$/,
    CONVERTERS,
  ],
  [/^org\.apache\.kafka\.connect\.storage\.SimpleHeaderConverter$/, ['header_converter']],
  [/^org\.apache\.kafka\.connect\.transforms\.[A-Z][\w$]*$/, ['transformation']],
  [/^org\.apache\.kafka\.connect\.transforms\.predicates\.[A-Z][\w$]*$/, ['predicate']],
]

/** The entries of jars, or files of a directory, that name plugins, each with its kind. */
export const MANIFESTS: readonly { readonly path: string; readonly kind: JavaPluginKind }[] = [...API_TYPES].map(
  ([type, kind]) => ({ path: `META-INF/services/${type}`, kind }),
)

/** The kinds of plugin that a class is by extending a type outside of its location. */
export function kindsByParent(type: string): readonly JavaPluginKind[] {
  const kind = API_TYPES.get(type)
  if (kind !== undefined) return kind === FOUND_BY_MANIFEST_ONLY ? [] : [kind]
  return KAFKA_CLASSES.find(([pattern]) => pattern.test(type))?.[1] ?? []
}

/**
 * Whether a class belongs to Kafka Connect's worker, which Weir replaces. Such classes come with `connect-runtime`, on
 * which MirrorMaker depends; nobody installs it to use its converters instead of Weir's.
 */
export function isPartOfWorker(name: string): boolean {
  return /^org\.apache\.kafka\.connect\.(?:converters|storage)\./.test(name)
}

/** Whether the Java host has the class, so that a location need not have it. */
export function isClassOfKafka(name: string): boolean {
  return name.startsWith('org.apache.kafka.')
}

/** The class names in a service loader manifest. */
export function parseManifest(text: string): readonly string[] {
  const lines = text.split(/\r?\n/).map((line) => line.replace(/#.*/, '').trim())
  return [...new Set(lines.filter((line) => line !== ''))]
}
