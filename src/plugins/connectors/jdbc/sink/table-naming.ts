import type { SinkConfig } from './sink-config.ts'

type NamingKeys = Pick<SinkConfig, 'table.name.format' | 'table.name.normalize' | 'topics.to.tables.mapping'>

/** Returns the table for a topic. If a mapping is configured, topics that are missing from it have no table. */
export function tableNaming(config: NamingKeys): (topic: string) => string {
  const { 'table.name.format': format, 'topics.to.tables.mapping': mapping } = config
  return (topic) => {
    if (mapping.size > 0) {
      const table = mapping.get(topic)
      if (table !== undefined) return table
      throw new Error(`topics.to.tables.mapping has no entry for the topic '${topic}': add ${topic}:TABLE`)
    }
    const name = format.replaceAll('${topic}', topic)
    return config['table.name.normalize'] ? name.replace(/[^A-Za-z0-9_]/g, '_') : name
  }
}
