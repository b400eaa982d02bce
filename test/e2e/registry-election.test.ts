import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { hashPassword } from '../../src/http/password-hash.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { testLeaderWriter } from '../support/leader-writer-contract.ts'
import { RegistrationLoad, registrationProblems, schemaOf } from '../support/registry-load.ts'
import { type RegistryProcess, startRegistryProcess } from '../support/registry-process.ts'
import { until } from '../support/until.ts'

const kafka = await real('kafka')
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

describeOn([kafka], 'several registry instances on one Kafka', () => {
  it('elect one leader; followers forward writes and then can read them', async () => {
    const { leader, followers } = await findLeader(await start(2))
    const follower = createRegistryClient({ url: followers[0]?.url ?? '' })
    const { id } = await follower.register('s', { schema: '"int"' })
    // The follower can read it immediately.
    expect(await follower.latest('s')).toMatchObject({ id, schema: '"int"' })
    expect(await createRegistryClient({ url: leader.url }).latest('s')).toMatchObject({ id })
    await expect(follower.register('s', { schema: '"string"' })).rejects.toMatchObject({
      status: 409,
      errorCode: 40901,
      message: expect.stringContaining('TYPE_MISMATCH'),
    })
    await follower.putConfig({ compatibility: 'NONE' }, 's')
    expect(await follower.config('s')).toEqual({ compatibility: 'NONE' })
    const written = await fetch(`${followers[0]?.url}/subjects/n/versions`, {
      method: 'POST',
      body: '{"schema":"\\"int\\"","version":1.0,"metadata":{"properties":{"release":1.0}}}',
      headers: { 'content-type': 'application/json' },
    })
    expect(await written.json()).toMatchObject({ version: 1, metadata: { properties: { release: '1.0' } } })
    const looped = await fetch(`${followers[0]?.url}/mode`, {
      method: 'PUT',
      body: '{"mode":"READONLY"}',
      headers: { 'content-type': 'application/json', 'x-forward': 'true' },
    })
    expect([looped.status, await looped.json()]).toEqual([503, { error_code: 50004, message: 'Failed to update mode' }])
  })

  it('lose no schema and assign no ID twice when the leader is killed under load', async () => {
    const instances = await start(3)
    const { leader, followers } = await findLeader(instances)
    const clients = followers.map(({ url }) => createRegistryClient({ url, timeoutMs: 20_000 }))
    const load = new RegistrationLoad(clients)
    await until('some writes', WAIT, () => load.acknowledged.size > 50)
    const killedMs = performance.now()
    await leader.kill()
    await until('writes after the leader’s end', WAIT, () => load.lastMs > killedMs + 1_000)
    await until('more writes', WAIT, () => load.acknowledged.size > 150)
    await load.stop()
    expect(await registrationProblems(load, clients)).toEqual([])
  })

  it('fence a paused leader, which cannot write after it resumes', async () => {
    const instances = await start(2)
    const { leader, followers } = await findLeader(instances)
    const survivor = followers[0] as RegistryProcess
    const client = createRegistryClient({ url: survivor.url, timeoutMs: 20_000 })
    await client.register('before', { schema: '"int"' })
    process.kill(leader.pid ?? 0, 'SIGSTOP')
    await until('a new leader', WAIT, () => isLeader(survivor))
    const { id } = await client.register('after', { schema: '"long"' })
    process.kill(leader.pid ?? 0, 'SIGCONT')
    const resumed = createRegistryClient({ url: leader.url, timeoutMs: 20_000 })
    const answers = await Promise.allSettled(
      Array.from({ length: 10 }, (_, at) => resumed.register(`resumed-${at}`, schemaOf(`Resumed${at}`))),
    )
    const ids = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.id] : []))
    expect(new Set([...ids, id, 1]).size).toBe(ids.length + 2)
    await until('both to agree', WAIT, async () => {
      const [subjects, others] = await Promise.all([client.subjects(), resumed.subjects()])
      return JSON.stringify(subjects) === JSON.stringify(others)
    })
  })

  it('reject writes with 503 and 50004 without an eligible leader, and still serve reads', async () => {
    const group = randomUUID()
    const [leader] = await start(1, () => ({}), group)
    const [follower] = await start(1, () => ({ 'master.eligibility': 'false' }), group)
    await createRegistryClient({ url: leader?.url ?? '' }).register('s', { schema: '"int"' })
    const client = createRegistryClient({ url: follower?.url ?? '', timeoutMs: 20_000 })
    await until('the follower to read it', WAIT, async () => (await client.subjects()).includes('s'))
    await leader?.kill()
    await until('the session of the leader to expire', WAIT, async () => !(await fetch(`${follower?.url}/readyz`)).ok)
    await expect(client.register('t', { schema: '"int"' })).rejects.toMatchObject({ status: 503, errorCode: 50004 })
    expect(await client.latest('s')).toMatchObject({ schema: '"int"' })
  })

  it('forward writes over TLS with the credentials of the client', async () => {
    const users = `ada: ${await hashPassword('a')}, developer\nrea: ${await hashPassword('r')}, readonly`
    const instances = await start(2, (plain, tls) => ({
      listeners: `http://127.0.0.1:${plain},https://127.0.0.1:${tls}`,
      'inter.instance.protocol': 'https',
      'ssl.keystore.location': certificate('server.pem'),
      'ssl.truststore.location': certificate('ca.pem'),
      'authentication.method': 'BASIC',
      'authentication.skip.paths': '/metrics',
      'weir.authentication.users': users,
    }))
    const { followers } = await findLeader(instances)
    const as = (username: string, password: string) =>
      createRegistryClient({ url: followers[0]?.url ?? '', auth: { username, password } })
    expect(await as('ada', 'a').register('s', { schema: '"int"' })).toMatchObject({ id: 1 })
    await expect(as('rea', 'r').register('s', { schema: '"long"' })).rejects.toMatchObject({ status: 403 })
    expect(await as('rea', 'r').latest('s')).toMatchObject({ id: 1 })
  })
})

describeOn([kafka], 'the leader writer on Kafka', () => {
  it('fences the previous writer when it is opened', async () => {
    const broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': kafka.address.bootstrap } },
      { logger: silentLogger() },
    )
    onTestFinished(() => broker.close())
    await testLeaderWriter(broker, `_schemas-${randomUUID()}`)
  })
})

type SettingsOf = (plainPort: number, tlsPort: number) => Readonly<Record<string, string>>

async function start(
  count: number,
  own: SettingsOf = () => ({}),
  name: string = randomUUID(),
): Promise<RegistryProcess[]> {
  const group = `registry-${name}`
  const settings = {
    'brokerstore.topic': `_schemas-${group}`,
    'schema.registry.group.id': group,
    'brokergroup.session.timeout.ms': '6000',
    'brokergroup.heartbeat.interval.ms': '1000',
  }
  const started: RegistryProcess[] = []
  onTestFinished(async () => {
    await Promise.all(started.map((one) => one.kill()))
  })
  for (let at = 0; at < count; at++) {
    const all = { ...settings, ...own(await freePort(), await freePort()) }
    started.push(await startRegistryProcess(['--bootstrap', kafka.address.bootstrap], all))
  }
  return started
}

function certificate(name: string): string {
  return join(import.meta.dirname, '../support/tls', name)
}

async function findLeader(instances: readonly RegistryProcess[]) {
  await until('one leader', WAIT, async () => (await Promise.all(instances.map(isLeader))).filter(Boolean).length === 1)
  const isLeading = await Promise.all(instances.map(isLeader))
  return {
    leader: instances[isLeading.indexOf(true)] as RegistryProcess,
    followers: instances.filter((_, at) => !isLeading[at]),
  }
}

async function isLeader({ url }: RegistryProcess): Promise<boolean> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return /^kafka_schema_registry_master_slave_role 1$/m.test(metrics)
}
