import { describe, expect, it } from 'vitest'
import { BrokerError } from '../../src/broker/broker-error.ts'
import { guidOf } from '../../src/registry/model/schema.ts'
import { toSubject } from '../../src/registry/model/subject.ts'
import { startTestRegistry } from '../support/registry.ts'
import { until } from '../support/until.ts'

describe('a write', () => {
  it('is rejected when 10,000 writes are waiting', { tags: ['slow'] }, async () => {
    const gate = Promise.withResolvers<void>()
    const test = await startTestRegistry({}, { writeGate: gate.promise })
    const write = (value: 'READONLY' | 'READWRITE') =>
      test.registry.write(() => ({ records: [{ kind: 'mode', subject: null, value }], answer: undefined }), MODE)
    const waiting = Array.from({ length: 10_000 }, () => write('READWRITE'))
    await expect(write('READONLY')).rejects.toMatchObject({ code: 'too_many_writes' })
    gate.resolve()
    await Promise.all(waiting)
    await write('READONLY')
    expect(test.written).toHaveLength(10_001)
    await test.stop()
  })

  it('loads the code of the schema type of an earlier version, which a request without a schema takes', async () => {
    const test = await startTestRegistry()
    const subject = toSubject('s')
    const text = 'syntax = "proto3";\n\nmessage M {}\n'
    const content = { type: 'PROTOBUF' as const, text, references: [], metadata: undefined, ruleSet: undefined }
    const value = {
      subject,
      version: 1,
      id: 1,
      content: { ...content, guid: guidOf(content) },
      deleted: false,
      extra: {},
    }
    await test.registry.write(
      () => ({ records: [{ kind: 'schema', subject, version: 1, value }], answer: undefined }),
      MODE,
    )
    const metadata = { properties: { owner: 'me' } }
    expect(await test.call('POST', '/subjects/s/versions', { metadata })).toMatchObject({
      status: 200,
      body: { version: 2, schemaType: 'PROTOBUF', metadata, schema: text },
    })
    await test.stop()
  })

  it('replaces the writer after a failure, because the records may have been written', async () => {
    const test = await startTestRegistry({}, { writeError: new BrokerError('timeout', 'on purpose') })
    await test.call('PUT', '/mode', { mode: 'READONLY' })
    expect(test.writerReplacements).toEqual(['on purpose'])
    await test.stop()
  })

  it('on a follower is answered after the follower has read what the leader wrote', async () => {
    const leader = await startTestRegistry()
    const caughtUp = Promise.withResolvers<void>()
    let refreshes = 0
    const refresh = () => {
      refreshes += 1
      return caughtUp.promise
    }
    const follower = await startTestRegistry({}, { leaderUrl: leader.url, refresh })
    let isAnswered = false
    const answer = follower.call('PUT', '/mode', { mode: 'READONLY' }).then(({ status }) => {
      isAnswered = true
      return status
    })
    await until('the follower to catch up', { everyMs: 5, timeoutMs: 25_000 }, () => refreshes === 1)
    expect([leader.written.length, isAnswered]).toEqual([1, false])
    caughtUp.resolve()
    expect(await answer).toBe(200)
    // A rejected write changes nothing, so the follower does not refresh.
    expect(await follower.call('PUT', '/mode', { mode: 'FORWARD' })).toMatchObject({ status: 422 })
    expect(refreshes).toBe(1)
    await follower.stop()
    await leader.stop()
  })

  it.each([
    ['timeout', 50_002],
    ['unavailable', 50_001],
  ] as const)(
    'on a follower that cannot read what the leader wrote (%s) is answered as a failure of the store',
    async (code, error_code) => {
      const leader = await startTestRegistry()
      const refresh = () => Promise.reject(new BrokerError(code, 'the topic was not read to its end'))
      const follower = await startTestRegistry({}, { leaderUrl: leader.url, refresh })
      const answer = await follower.call('PUT', '/mode', { mode: 'READONLY' })
      expect(answer).toMatchObject({ status: 500, body: { error_code } })
      await follower.stop()
      await leader.stop()
    },
  )
})

const MODE = { timedOut: '', notStored: '', notForwarded: '', leaderless: '' }
