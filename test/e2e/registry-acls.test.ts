import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { formatRight } from '../../src/broker/broker-error.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { PROGRAM_ACLS } from '../../src/cli/doctor/program-acls.ts'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { type Acl, type KafkaWithAcls, loginOf, startKafkaWithAcls } from '../support/acls.ts'
import { runWeir, setArgs } from '../support/cli.ts'
import { testLeaderWriter } from '../support/leader-writer-contract.ts'
import { RegistrationLoad, registrationProblems } from '../support/registry-load.ts'
import { type RegistryProcess, startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'

const kafka = await real('kafka')
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const USER = 'registry'

/** The declared ACLs of a program, without those that it does not need. */
function aclsOf(program: string) {
  return PROGRAM_ACLS.find((one) => one.program === program)!.acls
}
const NEEDED = aclsOf('registry').filter(({ without, operation }) => without === undefined || operation === 'CREATE')
const KEYS = aclsOf('DEK registry')
const without = (acls: readonly Acl[], removed: Acl) => acls.filter((acl) => acl !== removed)

describeOn([kafka], 'a registry with the ACLs of docs/acls.md', () => {
  let server: KafkaWithAcls

  beforeAll(async () => {
    server = await startKafkaWithAcls([USER])
  })
  afterAll(() => server?.stop())

  const login = Object.fromEntries(Object.entries(loginOf(USER)).map(([key, value]) => [`brokerstore.${key}`, value]))
  const timing = { 'brokergroup.session.timeout.ms': '6000', 'brokergroup.heartbeat.interval.ms': '1000' }

  async function withAcls(acls: readonly Acl[]): Promise<void> {
    await server.acls.revokeAll(USER)
    await server.acls.grant(USER, acls)
  }

  async function start(settings: Readonly<Record<string, string>> = {}): Promise<RegistryProcess> {
    const registry = await startRegistryProcess(['--bootstrap', server.restricted], {
      ...login,
      ...timing,
      ...settings,
    })
    onTestFinished(() => registry.kill())
    return registry
  }

  /** What a registry that does not start prints. */
  async function startError(): Promise<string> {
    const settings = { ...login, listeners: `http://127.0.0.1:${await freePort()}` }
    const args = ['registry', '--bootstrap', server.restricted, ...setArgs(settings)] as const
    const { code, stderr } = await runWeir(temporaryDirectory(), ...args)
    expect(code).not.toBe(0)
    return stderr
  }

  const registerIn = ({ url }: RegistryProcess, subject: string) =>
    createRegistryClient({ url, timeoutMs: 20_000 }).register(subject, { schema: '"int"' })
  const createKek = async ({ url }: RegistryProcess, name: string) => {
    const kek = { name, kmsType: 'local-kms', kmsKeyId: 'id' }
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(kek) }
    const response = await fetch(`${url}/dek-registry/v1/keks`, init)
    return { status: response.status, text: await response.text() }
  }

  it('creates its topics, elects a leader and accepts writes', async () => {
    await withAcls([...NEEDED, ...KEYS])
    const registry = await start()
    expect(await registerIn(registry, 'first')).toMatchObject({ id: 1 })
    expect(await createKek(registry, 'first')).toMatchObject({ status: 200 })
  })

  it.each(
    NEEDED.filter(({ operation, resourceType }) => operation !== 'CREATE' && !isWrite({ operation, resourceType })),
  )('does not start without $operation on $resourceType $resourceName, which it names in one line', async (removed) => {
    await withAcls([...without(NEEDED, removed), ...KEYS])
    const lines = (await startError()).split('\n').filter((line) => line.includes(`the client needs `))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toContain(`on ${removed.resourceType} ${removed.resourceName}`)
  })

  it('starts without CREATE if its topics exist', async () => {
    await withAcls([...NEEDED, ...KEYS].filter(({ operation }) => operation !== 'CREATE'))
    expect(await registerIn(await start(), 'existing')).toMatchObject({ version: 1 })
  })

  it('names WRITE on its topic in responses, readiness and, once, in the log, until it is granted', async () => {
    const removed = NEEDED.find(isWrite)!
    const right = formatRight(removed)
    await withAcls([...NEEDED, ...KEYS])
    const registry = await start()
    await registerIn(registry, 'before')
    await server.acls.revoke(USER, [removed])
    await expect(registerIn(registry, 'revoked')).rejects.toMatchObject({
      status: 500,
      errorCode: 50001,
      message: expect.stringContaining(`the registry needs ${right}`),
    })
    const ready = async () => {
      const response = await fetch(`${registry.url}/readyz`)
      return { status: response.status, text: await response.text() }
    }
    await until('it to try again', WAIT, async () => (await ready()).text.includes(right))
    expect(await ready()).toEqual({ status: 503, text: `not ready: the registry needs ${right}\n` })
    await expect(registerIn(registry, 'revoked')).rejects.toMatchObject({
      status: 503,
      errorCode: 50004,
      message: `Leader not known: the registry needs ${right}`,
    })
    const logged = () => readFileSync(registry.logFile, 'utf8').split('this instance is elected').length - 1
    const generations = () => readFileSync(registry.logFile, 'utf8').length
    expect([logged(), generations() > 0]).toEqual([1, true])
    await server.acls.grant(USER, [removed])
    await until('it to write', WAIT, async () => (await ready()).status === 200)
    expect(await registerIn(registry, 'revoked')).toMatchObject({ version: 1 })
    expect(logged()).toBe(1)
  })

  it.each(KEYS.filter(({ operation }) => operation !== 'CREATE'))(
    'serves schemas without $operation on $resourceName, and names it when a key is created',
    async (removed) => {
      await withAcls([...NEEDED, ...without(KEYS, removed)])
      const registry = await start()
      expect(await registerIn(registry, `without-${removed.operation}`)).toMatchObject({ version: 1 })
      const { status, text } = await createKek(registry, `without-${removed.operation}`)
      expect([status, text]).toEqual([
        expect.toBeOneOf([500, 503]),
        expect.stringContaining(`on topic ${removed.resourceName}`),
      ])
    },
  )

  it('fences the writers of earlier leaders', async () => {
    const topic = { resourceType: 'topic', resourceName: 'fenced', prefixed: true } as const
    const operations = ['READ', 'WRITE', 'CREATE', 'DESCRIBE_CONFIGS'] as const
    await withAcls([...NEEDED, ...operations.map((operation) => ({ ...topic, operation }))])
    const config = { 'bootstrap.servers': server.restricted, ...loginOf(USER) }
    const broker = await openBroker({ kind: 'kafka', config }, { logger: silentLogger() })
    onTestFinished(() => broker.close())
    await testLeaderWriter(broker, 'fenced')
  })

  it('loses no schema and assigns no ID twice when leaders are frozen and killed during writes', async () => {
    await withAcls([...NEEDED, ...KEYS])
    const instances = await Promise.all([start(), start(), start()])
    const clients = instances.map(({ url }) => createRegistryClient({ url, timeoutMs: 20_000 }))
    const frozen = await leaderOf(instances)
    const others = instances.filter((one) => one !== frozen)
    const load = new RegistrationLoad(
      clients.filter((_, at) => instances[at] !== frozen),
      { prefix: 'load' },
    )
    const late = new RegistrationLoad([clients[instances.indexOf(frozen)]!], { prefix: 'late' })
    await until('some writes', WAIT, () => load.acknowledged.size > 20 && late.acknowledged.size > 5)
    process.kill(frozen.pid!, 'SIGSTOP')
    const next = await leaderOf(others)
    const written = load.acknowledged.size
    await until('writes by the next leader', WAIT, () => load.acknowledged.size > written + 20)
    process.kill(frozen.pid!, 'SIGCONT')
    const thawed = late.acknowledged.size
    await until('writes through the first leader', WAIT, () => late.acknowledged.size > thawed + 5)
    await next.kill()
    const survivors = instances.filter((one) => one !== next)
    await leaderOf(survivors)
    const continued = late.acknowledged.size
    await until('writes after its end', WAIT, () => late.acknowledged.size > continued + 20)
    await Promise.all([load.stop(), late.stop()])
    const left = clients.filter((_, at) => instances[at] !== next)
    const all = { acknowledged: new Map([...load.acknowledged, ...late.acknowledged]) } as RegistrationLoad
    await until('all to have read everything', WAIT, async () => {
      const counts = await Promise.all(left.map(async (client) => (await client.subjects()).length))
      return new Set(counts).size === 1
    })
    expect(await registrationProblems(all, left)).toEqual([])
  })
})

function isWrite({ operation, resourceType }: Pick<Acl, 'operation' | 'resourceType'>): boolean {
  return operation === 'WRITE' && resourceType === 'topic'
}

/** Waits until exactly one of the instances is the leader. */
async function leaderOf(instances: readonly RegistryProcess[]): Promise<RegistryProcess> {
  let leading: readonly RegistryProcess[] = []
  await until('one leader', WAIT, async () => {
    const isLeading = await Promise.all(instances.map(isLeader))
    leading = instances.filter((_, at) => isLeading[at])
    return leading.length === 1
  })
  return leading[0]!
}

async function isLeader({ url }: RegistryProcess): Promise<boolean> {
  const response = await fetch(`${url}/metrics`).catch(() => undefined)
  return /^kafka_schema_registry_master_slave_role 1$/m.test((await response?.text()) ?? '')
}
