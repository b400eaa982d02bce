import type { ConfigProblem } from '../../../sdk/index.ts'

/** Maximum length of the name of an index. */
const NAME_MAX = 255
const NAMESPACE_MAX = 100

/** The index of a topic, as the originals name it: in lower case, without leading characters that are not allowed. */
export function indexName(
  topic: string,
  { leading, replaced }: { readonly leading: RegExp; readonly replaced: RegExp },
): string {
  const name = topic.toLowerCase().replace(replaced, '_').slice(0, NAME_MAX).replace(leading, '')
  return name === '.' || name === '..' ? name.replace('.', 'dot') : name
}

/** A data stream as `TYPE-DATASET-NAMESPACE`. The namespace may contain `${topic}`. */
export function dataStreamName(
  topic: string,
  { type, dataset, namespace }: { readonly type: string; readonly dataset: string; readonly namespace: string },
): string {
  return `${type}-${dataset}-${namespace.replaceAll('${topic}', topic.toLowerCase()).slice(0, NAMESPACE_MAX)}`
}

/** The resource of a topic by entries of the form `TOPIC:RESOURCE`. The function throws an `Error` for a topic without an entry. */
export function existingResources(key: string, entries: readonly string[]): (topic: string) => string {
  const resources = parseTopicResources(key, entries)
  return (topic) => {
    const resource = resources.get(topic)
    if (resource === undefined) throw new Error(`topic '${topic}' has no entry in ${key}`)
    return resource
  }
}

export function resourceProblems(key: string, entries: readonly string[]): readonly ConfigProblem[] {
  try {
    parseTopicResources(key, entries)
    return []
  } catch (error) {
    return [{ key, message: (error as Error).message }]
  }
}

/** Parses entries of the form `TOPIC:RESOURCE`. Throws an `Error` for other ones, and for a repeated topic or resource. */
function parseTopicResources(key: string, entries: readonly string[]): ReadonlyMap<string, string> {
  const resources = new Map<string, string>()
  for (const entry of entries) {
    const [topic = '', resource = '', ...more] = entry.split(':').map((part) => part.trim())
    if (topic === '' || resource === '' || more.length > 0) {
      throw new Error(`Invalid value ${entry} for configuration ${key}: expected TOPIC:RESOURCE`)
    }
    if (resources.has(topic) || [...resources.values()].includes(resource)) {
      throw new Error(
        `Invalid value ${entry} for configuration ${key}: its topic or resource is in another entry already`,
      )
    }
    resources.set(topic, resource)
  }
  return resources
}
