import { delimiter } from 'node:path'
import { cachedJars, resolveJars } from './jars.ts'
import { hasMaven } from './java-toolchain.ts'
import type { Part } from './part.ts'

const CONNECTORS = ['postgres', 'mariadb', 'jdbc'] as const
export type DebeziumConnector = (typeof CONNECTORS)[number]

/** The paths of the jars of each connector with its dependencies. */
export type DebeziumAddress = Readonly<Record<DebeziumConnector, readonly string[]>>

const VERSION = '3.4.0.Final'
const nameOf = (connector: DebeziumConnector) => `debezium-connector-${connector}`

/** The connectors of Debezium, from Maven Central. */
export function debeziumPart(name: string): Part<DebeziumAddress> {
  return {
    name,
    version: VERSION,
    async find() {
      const cached = CONNECTORS.every((connector) => cachedJars(`${nameOf(connector)}-${VERSION}`) !== undefined)
      if (!cached && !(await hasMaven())) return { how: 'missing', detail: 'there is no mvn on PATH to fetch the jars' }
      return { how: 'toolchain', detail: 'jars from Maven Central', cached }
    },
    async start() {
      const jarsOf = async (connector: DebeziumConnector) => {
        const artifact = ['io.debezium', nameOf(connector), VERSION] as const
        return (await resolveJars(`${nameOf(connector)}-${VERSION}`, [artifact])).split(delimiter)
      }
      const [postgres, mariadb, jdbc] = [await jarsOf('postgres'), await jarsOf('mariadb'), await jarsOf('jdbc')]
      return { address: { postgres, mariadb, jdbc }, stop: async () => undefined }
    },
  }
}
