/** Of `GET /connectors?expand=info`, what tells which topics a connector uses. */
type ConnectorConfig = Readonly<Record<string, string | null>>
type ListedConnectors = Readonly<
  Record<
    string,
    {
      readonly info?: { readonly type: string; readonly config: ConnectorConfig }
      readonly status?: { readonly type: string }
    }
  >
>

/** `GET /ui/api/connector-topics` of a worker. A Java Connect cluster has no such list. */
export type WorkerTopicUse = {
  /** The topics that each connector has used. */
  readonly topics: Readonly<Record<string, readonly string[]>>
  /** Of connectors that set none. */
  readonly defaultConverters: ConnectorConfig
}

/** That a connector reads or writes a topic. */
export type TopicUse = {
  readonly connector: string
  readonly topic: string
  readonly kind: 'reads' | 'writes' | 'dead letters'
  /** The subjects of keys and values; a pattern that ends with `*` stands for the subject of each type of record. */
  readonly subjects: readonly string[]
}

/** Keys of sources that name the topic that they write. */
const TOPIC_KEYS = ['topic', 'kafka.topic', 'topics']
/** Converters that register and look up schemas. `JsonConverter` does not. */
const USES_REGISTRY = /(?:Avro|JsonSchema|Protobuf)Converter$/
/** Of the URL of a registry. */
const CONTEXT = /\/contexts\/(\.[^/]+)/

/** Which connector uses which topic, by what each has used and by its configuration. */
export function topicUses(
  connectors: ListedConnectors,
  { topics: used, defaultConverters }: WorkerTopicUse = { topics: {}, defaultConverters: {} },
): readonly TopicUse[] {
  return Object.entries(connectors).flatMap(([connector, { info, status }]): readonly TopicUse[] => {
    const { config = {} } = info ?? {}
    const isSink = (info?.type ?? status?.type) === 'sink'
    const deadLetters = isSink ? deadLetterTopic(config, 'sink') : ''
    const topics = new Set([...topicsOf(config, isSink), ...(used[connector] ?? [])])
    topics.delete(deadLetters)
    const uses = [...topics].map((topic) => {
      const kind = isSink ? ('reads' as const) : ('writes' as const)
      return { connector, topic, kind, subjects: subjectsOf(config, defaultConverters, topic) }
    })
    return deadLetters === '' ? uses : [...uses, { connector, topic: deadLetters, kind: 'dead letters', subjects: [] }]
  })
}

function topicsOf(config: ConnectorConfig, isSink: boolean): readonly string[] {
  const keys = isSink ? ['topics'] : TOPIC_KEYS
  return keys.flatMap((key) => (config[key] ?? '').split(',').map((topic) => topic.trim())).filter(Boolean)
}

function subjectsOf(own: ConnectorConfig, defaults: ConnectorConfig, topic: string): readonly string[] {
  return ['key', 'value'].flatMap((side) => {
    const prefix = `${side}.converter`
    // Where a connector names no converter, the worker's is used, with the settings of the worker: those of the connector do not count.
    const config = own[prefix] === undefined ? defaults : own
    if (!USES_REGISTRY.test(config[prefix] ?? '')) return []
    const strategy = config[`${prefix}.${side}.subject.name.strategy`] ?? 'TopicNameStrategy'
    const context = CONTEXT.exec(config[`${prefix}.schema.registry.url`] ?? '')?.[1]
    const scope = context === undefined || context === '.' ? '' : `:${context}:`
    if (strategy.endsWith('TopicRecordNameStrategy')) return [`${scope}${topic}-*`]
    // The subject is the name of the type, which is in the data only.
    if (strategy.endsWith('RecordNameStrategy')) return []
    return [`${scope}${topic}-${side}`]
  })
}

/** What uses a subject: topics and connectors, each sorted. */
export type SubjectUse = { readonly topics: readonly string[]; readonly connectors: readonly string[] }

/** Finds what uses each subject, in time independent of the number of other subjects. */
export function subjectUses(uses: readonly TopicUse[]): (subject: string) => SubjectUse {
  const bySubject = new Map<string, TopicUse[]>()
  for (const use of uses)
    for (const subject of use.subjects) {
      const known = bySubject.get(subject)
      if (known === undefined) bySubject.set(subject, [use])
      else known.push(use)
    }
  return (subject) => {
    // A record's name follows the topic's, and both can contain hyphens.
    const patterns = [...subject.matchAll(/-/g)].map(({ index }) => `${subject.slice(0, index)}-*`)
    const found = [subject, ...patterns].flatMap((name) => bySubject.get(name) ?? [])
    return {
      topics: [...new Set(found.map(({ topic }) => topic))].sort(),
      connectors: [...new Set(found.map(({ connector }) => connector))].sort(),
    }
  }
}

/** The dead-letter topic that a sink writes to, if there is one. */
export function deadLetterTopic(config: ConnectorConfig | undefined, type: string | undefined): string {
  return type === 'sink' ? (config?.['errors.deadletterqueue.topic.name'] ?? '') : ''
}
