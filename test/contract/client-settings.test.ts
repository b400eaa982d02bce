import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { runJava, SHORT_LIVED } from '../env/java.ts'
import type { KafkaVersion } from '../env/kafka.ts'
import { describeOn, real } from '../env/real.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

/** The latest. */
const KAFKA_VERSION: KafkaVersion = '4.4.0'

const javaPlugins = await real('javaPlugins')

describeOn([javaPlugins], 'the recorded settings of clients', () => {
  it('are those of Kafka’s producer, consumer and admin client', async () => {
    const { code, stdout, stderr } = await runJava({
      bundle: 'kafka',
      version: KAFKA_VERSION,
      // A source file, which Java compiles when it starts.
      main: join(import.meta.dirname, '../env/java-client-settings.java'),
      args: [],
      jvm: SHORT_LIVED,
      directory: temporaryDirectory(),
    })
    expect([code, stderr]).toEqual([0, expect.any(String)])
    const recorded = readFileSync(join(import.meta.dirname, '../broker/kafka-client-settings.json'), 'utf8')
    expect(JSON.parse(stdout)).toEqual(JSON.parse(recorded))
  })
})
