import type { ConnectorProperties } from '../../../src/clients/worker-client.ts'
import { openDisposableBroker } from '../../support/topic.ts'
import type { Figure } from '../figures.ts'
import { progress, type Settings } from '../settings.ts'
import type { Side } from '../worker/sides.ts'
import { ConverterChoice, parseConverterNames } from './converters.ts'
import { type Compared, comparedFigures, sidesWithDebezium } from './main.ts'
import { MariadbSource } from './mariadb-source.ts'
import { measureRates } from './rates.ts'

const RECORDS_PER_ROW = 10

/** Compares the change data capture of MariaDB with Debezium, on the same server and Kafka. */
export async function benchMariadbCdc(settings: Settings): Promise<readonly Figure[]> {
  const rows = Math.ceil(settings.records / RECORDS_PER_ROW)
  const changes = Math.ceil(rows / 3) * 3
  const names = parseConverterNames(settings.converters)
  const [ours, debezium] = await sidesWithDebezium(settings, names, 'mariadb')
  await using converters = await ConverterChoice.start(names)
  const { bootstrap } = settings
  await using database = await MariadbSource.start(rows, bootstrap)
  await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
  const rounds: Compared[][] = []
  for (let round = 1; round <= settings.rounds; round++) {
    const rates: Compared[] = []
    for (const choice of converters.all) {
      const measure = (side: Side, properties: ConnectorProperties) => {
        progress(`cdc-mariadb: ${side.name}, ${choice.title}, round ${round} of ${settings.rounds}`)
        return measureRates({ side, database, broker, converters: properties, rows, changes })
      }
      rates.push({ ours: await measure(ours, choice.ours), debezium: await measure(debezium, choice.debezium) })
    }
    rounds.push(rates)
  }
  return converters.all.flatMap((choice, at) =>
    comparedFigures(
      choice,
      rounds.map((rates) => rates[at]!),
    ),
  )
}
