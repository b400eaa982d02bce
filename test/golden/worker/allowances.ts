import type { Answer } from './asking.ts'
import type { Exchange } from './recording.ts'
import type { TopicView } from './topic-view.ts'

/** A permitted difference and its reason. It must occur in each run, unless it is `byChance`. */
export type Allowance<Recorded = never, Ours = never> = {
  readonly reason: string
  readonly byChance?: true
  readonly of: (recorded: Recorded) => boolean
  readonly accepts: (recorded: Recorded, ours: Ours) => boolean
}

/** The recorded value of a key in a topic; undefined: the key has no record. */
export type RecordedValue = {
  /** `topic/partition key`. */
  readonly key: string
  readonly value: string | undefined
  /** The next recorded value of the key. */
  readonly next: string | undefined
  readonly view: TopicView
}

/** The recommended values of keys whose value is a class. */
const CLASSES = /(?<="value":\{"name":"[^"]*(?:converter|\.type)","value":[^,]*,)"recommended_values":\[[^\]]*\]/g
const DOCUMENTATION = /"documentation":"(?:[^"\\]|\\.)*"/g
const BEYOND = 'Beyond Kafka Connect'
const INVENTORY = /, available connectors are: .*/

export const ANSWERS: readonly Allowance<Exchange, Answer>[] = [
  {
    reason: 'the response contains the build and the Kafka cluster',
    of: ({ path, status }) => path === '/' && status === 200,
    accepts: sameBut((answer) => answer.replace(/"(commit|kafka_cluster_id)":"[^"]*"/g, '"$1":""')),
  },
  {
    reason: 'Weir has more plugins, and does not have those of MirrorMaker',
    of: ({ method, path }) => method === 'GET' && /^\/connector-plugins(\/?|\?.*)$/.test(path),
    accepts: (recorded, ours) => sameStatus(recorded, ours) && missingPlugins(recorded, ours).length === 0,
  },
  {
    reason: 'recommended classes depend on the installed plugins',
    of: ({ path, status }) => path.endsWith('/config/validate') && status === 200,
    accepts: sameBut((answer) => answer.replace(CLASSES, '"recommended_values":[]')),
  },
  {
    reason: 'additional keys of sources are marked as such',
    of: ({ path, status }) => /\/config(\?|$)/.test(path) && status === 200,
    accepts: sameBut((answer) => answer),
  },
  {
    reason: 'an invalid path gets 404 instead of an HTML page',
    of: ({ path }) => path.startsWith('//'),
    accepts: (_, ours) => ours.status === 404,
  },
  {
    reason: 'a malformed body gets 400 with a description instead of 500',
    of: ({ status, answer }) => status === 500 && /"(Cannot |Unexpected end-of-input|Unrecognized )/.test(answer),
    accepts: (_, ours) => ours.status === 400 && !/Cannot invoke|java/.test(ours.answer),
  },
  {
    reason: 'a configuration that cannot be validated gets 400, with the installed classes',
    of: ({ answer }) => /BadRequestException: |Failed to find any class/.test(answer),
    accepts: (recorded, ours) => {
      const expected = JSON.parse(recorded.answer).message.replace(/^[\w.]+Exception: /, '')
      const message = JSON.parse(ours.answer).message
      return ours.status === 400 && message.replace(INVENTORY, '') === expected.replace(INVENTORY, '')
    },
  },
  {
    reason: 'the order of the members of a Java map is undefined',
    of: ({ answer }) => answer.includes(' contains no connector type'),
    accepts: sameBut((answer) => [...answer].sort().join('')),
  },
  {
    reason: 'a slash in a name is escaped in the Location header',
    of: ({ answerHeaders }) => answerHeaders['location']?.endsWith('/a/b') === true,
    accepts: (recorded, ours) =>
      sameStatus(recorded, ours) && ours.answerHeaders['location']?.endsWith('/connectors/a%2Fb') === true,
  },
  {
    reason: 'a connector with any name can be read',
    of: ({ method, answer }) => method === 'GET' && answer.includes('Ambiguous URI path'),
    accepts: ({ path }, ours) => ours.status === 200 && JSON.parse(ours.answer).name === nameIn(path),
  },
  {
    reason: 'a connector with any name can be deleted',
    of: ({ method, path, status }) => method === 'DELETE' && status === 400 && nameIn(path) !== undefined,
    accepts: (_, ours) => ours.status === 204,
  },
  {
    reason: 'the topics of an unknown connector get 404 instead of an empty list',
    of: ({ path }) => path.startsWith('/connectors/unknown/topics'),
    accepts: (_, ours) => ours.status === 404 && ours.answer.includes('Connector unknown not found'),
  },
  {
    reason: 'the message contains the missing topic',
    of: ({ path, answer }) => path === '/connectors/snk/offsets' && answer.includes('Failed to alter consumer group'),
    accepts: (recorded, ours) => sameStatus(recorded, ours) && ours.answer.startsWith(recorded.answer.slice(0, -2)),
  },
  {
    reason: 'Weir has its own documentation and recommended values of converters',
    of: ({ path, label, status }) =>
      status === 200 && (path.endsWith('JsonConverter/config') || label === 'validate with converter override'),
    accepts: sameBut((answer) =>
      answer
        .replace(CLASSES, '')
        .replace(DOCUMENTATION, '')
        .replace(/(?<="value":"UTF-8",)"recommended_values":\[[^\]]*\]/, ''),
    ),
  },
  {
    reason: 'Weir does not define the keys of Java’s Kafka clients',
    of: ({ label }) => label === 'validate producer.override',
    accepts: sameBut((answer) =>
      answer.replace(CLASSES, '').replace(/"definition":(?:null|\{[^}]*\})(?=,"value":\{"name":"producer)/, ''),
    ),
  },
  {
    reason: 'the first line of a stack trace has Weir’s message',
    of: ({ answer }) => answer.includes('"trace":"'),
    accepts: sameBut(withoutTrace),
  },
  {
    reason: 'a read immediately after a change may return the old or the new state',
    byChance: true,
    of: ({ label }) => label === 'status at once',
    accepts: sameBut((answer) => answer.replace(/"state":"[A-Z]+"/g, '"state":""')),
  },
  {
    reason: 'the loggers are different',
    of: ({ path, status }) => path.startsWith('/admin/loggers') && status === 200,
    accepts: sameStatus,
  },
]

export const RECORDS: readonly Allowance<RecordedValue, string | undefined>[] = [
  {
    reason: 'deleting a connector leaves no task records behind',
    of: ({ key, view }) => {
      const connector = /^connect-configs\/0 (?:task|commit)-(.*?)(?:-\d+)?$/.exec(key)?.[1]
      return connector !== undefined && !view.has(`connect-configs/0 connector-${connector}`)
    },
    accepts: (_, ours) => ours === undefined,
  },
  {
    reason: 'a connector that Weir deleted and the test created again has written nothing since',
    of: ({ key }) => /:connector-(a\/b|100%)$/.test(key),
    accepts: (_, ours) => ours === undefined,
  },
  {
    reason: 'offsets are committed periodically and may be written one step earlier',
    byChance: true,
    of: ({ key }) => key.startsWith('connect-offsets/'),
    accepts: ({ next }, ours) => next !== undefined && next === ours,
  },
  {
    reason: 'the first line of a stack trace has Weir’s message',
    of: ({ value }) => value?.includes('"trace":"') === true,
    accepts: ({ value }, ours) => withoutTrace(value) === withoutTrace(ours),
  },
]

/** Returns plugins that only Kafka Connect has, except MirrorMaker. */
function missingPlugins(recorded: Exchange, ours: Answer): readonly string[] {
  const names = (answer: string) =>
    (JSON.parse(answer) as { readonly class: string; readonly type: string }[]).map((one) => `${one.type} ${one.class}`)
  const known = new Set(names(ours.answer))
  return names(recorded.answer).filter((name) => !known.has(name) && !name.includes('.connect.mirror.'))
}

function withoutTrace(text: string | undefined): string | undefined {
  return text?.replace(/"trace":"(?:[^"\\]|\\.)+"/g, '"trace":""')
}

function sameStatus(recorded: Exchange, ours: Answer): boolean {
  return recorded.status === ours.status
}

function sameBut(normalise: (answer: string) => string | undefined): Allowance<Exchange, Answer>['accepts'] {
  return (recorded, ours) =>
    sameStatus(recorded, ours) && normalise(recorded.answer) === normalise(withoutOwnKeys(ours.answer))
}

/** Removes the keys that only Weir's connectors have. */
function withoutOwnKeys(answer: string): string {
  if (!answer.includes(BEYOND)) return answer
  const isOwn = (one: { documentation?: unknown; definition?: { documentation?: unknown } | null } | null) =>
    String(one?.definition?.documentation ?? one?.documentation).startsWith(BEYOND)
  return JSON.stringify(
    JSON.parse(answer, (_, value) => (Array.isArray(value) ? value.filter((one) => !isOwn(one)) : value)),
  )
}

function nameIn(path: string): string | undefined {
  const name = /^\/connectors\/([^/]+)$/.exec(path)?.[1]
  return name === undefined ? undefined : decodeURIComponent(name)
}
