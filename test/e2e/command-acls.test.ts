import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { formatRight } from '../../src/broker/broker-error.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { type DeclaredAcl, PROGRAM_ACLS } from '../../src/cli/doctor/program-acls.ts'
import { backUpTopic, restoreTopic } from '../../src/cli/topics/topic-backup.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { readToEnd } from '../../src/dead-letters/read-to-end.ts'
import { replayDeadLetters, replayGroupOf } from '../../src/dead-letters/replay.ts'
import { describeOn, real } from '../env/real.ts'
import { removeDirectory } from '../env/remove-directory.ts'
import { partDirectory } from '../env/workspace.ts'
import { type KafkaWithAcls, loginOf, startKafkaWithAcls } from '../support/acls.ts'

const kafka = await real('kafka')
const logger = silentLogger()
const USER = 'operator'
const DEAD = 'orders-dead'
const directory = partDirectory('command-acls')
const file = join(directory, 'schemas.jsonl')

/** What each command does with the broker, with the names of `docs/acls.md`. */
const COMMANDS: Readonly<Record<string, (broker: Broker, admin: Broker) => Promise<unknown>>> = {
  'weir topic backup': (broker) => backUpTopic(broker, '_schemas', file),
  'weir topic restore': async (broker, admin) => {
    if (await admin.topics.describe('_schemas')) await admin.topics.delete('_schemas')
    await restoreTopic(broker, '_schemas', file)
  },
  'weir dlq show': async (broker) => {
    let count = 0
    for await (const polled of readToEnd(broker, DEAD, [])) for (const { records } of polled) count += records.length
    expect(count).toBe(1)
  },
  'weir dlq replay': (broker) =>
    replayDeadLetters(broker, {
      topic: DEAD,
      targetTopic: 'orders',
      matches: () => true,
      targetProblem: () => undefined,
      groupId: replayGroupOf(DEAD),
      fromBeginning: false,
      isDryRun: false,
      onRejected: () => undefined,
    }),
}
const CASES = PROGRAM_ACLS.filter(({ program }) => program in COMMANDS)
const REMOVED = CASES.flatMap(({ program, acls }) =>
  acls.map((acl): [string, string, DeclaredAcl] => [program, formatRight(acl), acl]),
)

describeOn([kafka], 'commands with the ACLs of docs/acls.md', () => {
  let server: KafkaWithAcls
  let admin: Broker
  let broker: Broker

  beforeAll(async () => {
    server = await startKafkaWithAcls([USER])
    const open = (config: Readonly<Record<string, string>>) => openBroker({ kind: 'kafka', config }, { logger })
    admin = await open({ 'bootstrap.servers': server.bootstrap })
    broker = await open({ 'bootstrap.servers': server.restricted, ...loginOf(USER) })
    const producer = await admin.producer()
    for (const name of ['_schemas', DEAD, 'orders']) {
      await admin.topics.create({ name, partitions: 1 })
      const headers = [['__connect.errors.topic', Buffer.from('orders')]] as const
      await producer.send([{ topic: name, key: Buffer.from('k'), value: Buffer.from('v'), headers }])
    }
  })
  afterAll(async () => {
    await broker?.close()
    await admin?.close()
    await server?.stop()
    removeDirectory(directory)
  })

  it.each(CASES.map(({ program, acls }): [string, readonly DeclaredAcl[]] => [program, acls]))(
    '%s works with exactly these',
    async (program, acls) => {
      await server.acls.revokeAll(USER)
      await server.acls.grant(USER, acls)
      await COMMANDS[program]!(broker, admin)
    },
  )

  it.each(REMOVED)('%s names %s if it lacks it', async (program, right, removed) => {
    const { acls } = CASES.find((one) => one.program === program)!
    await server.acls.revokeAll(USER)
    await server.acls.grant(
      USER,
      acls.filter((acl) => acl !== removed),
    )
    // READ and WRITE imply DESCRIBE, which may be missed first; a producer needs WRITE on any topic.
    const first = `\\w+ on ${removed.resourceType} ${removed.resourceName}|IDEMPOTENT_WRITE on cluster or WRITE on a topic`
    const named = new RegExp(`the client needs (${right}|${first})$`)
    await expect(COMMANDS[program]!(broker, admin)).rejects.toMatchObject({
      code: 'not_authorized',
      message: expect.stringMatching(named),
    })
  })

  it('every command with ACLs is called', () => {
    const withAcls = PROGRAM_ACLS.filter(({ program, acls }) => program.startsWith('weir ') && acls.length > 0)
    expect(withAcls.map(({ program }) => program).sort()).toEqual(Object.keys(COMMANDS).sort())
  })
})
