import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest'
import { formatRight } from '../../../src/broker/broker-error.ts'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { checkProgramRights } from '../../../src/cli/doctor/check-program-rights.ts'
import type { DoctorFinding } from '../../../src/cli/doctor/doctor-finding.ts'
import { type DeclaredAcl, PROGRAM_ACLS } from '../../../src/cli/doctor/program-acls.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { describeOn, real } from '../../env/real.ts'
import { type Acl, type KafkaWithAcls, loginOf, startKafkaWithAcls } from '../../support/acls.ts'
import { runWeir } from '../../support/cli.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const kafka = await real('kafka')
const USER = 'client'
const TOPICS = ['_schemas', '_dek_registry_keys', 'connect-configs', 'connect-offsets', 'connect-status']

const aclsOf = (...programs: readonly string[]): readonly DeclaredAcl[] =>
  programs.flatMap((program) => PROGRAM_ACLS.find((one) => one.program === program)!.acls)
const REGISTRY = aclsOf('registry', 'DEK registry')
const WORKER = aclsOf('worker')

describeOn([kafka], 'weir doctor on a broker with ACLs', () => {
  let server: KafkaWithAcls

  beforeAll(async () => {
    server = await startKafkaWithAcls([USER])
    const broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': server.bootstrap } },
      { logger: silentLogger() },
    )
    for (const name of TOPICS) await broker.topics.create({ name, configs: { 'cleanup.policy': 'compact' } })
    await broker.close()
  })
  afterAll(() => server?.stop())
  beforeEach(() => server.acls.revokeAll(USER))

  /** Its findings about rights and topics for the program whose settings are in a file. */
  async function doctor(program: string, settings: Readonly<Record<string, string>>) {
    const directory = temporaryDirectory()
    const file = join(directory, `${program}.properties`)
    const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}`)
    writeFileSync(file, `${lines.join('\n')}\n`)
    const { code, stdout, stderr } = await runWeir(
      directory,
      'doctor',
      '--program',
      program,
      '--config',
      file,
      '-o',
      'json',
    )
    expect(stderr).toBe('')
    const findings = JSON.parse(stdout) as readonly DoctorFinding[]
    return { code, findings: findings.filter(({ check }) => /^(rights|topic|broker)/.test(check)) }
  }
  const registry = (own: Readonly<Record<string, string>> = {}) => {
    const client = { 'bootstrap.servers': server.restricted, ...loginOf(USER) }
    const settings = Object.entries(client).map(([key, value]) => [`kafkastore.${key}`, value])
    return doctor('registry', { ...Object.fromEntries(settings), ...own })
  }
  const worker = () => doctor('worker', { 'bootstrap.servers': server.restricted, ...loginOf(USER) })
  const operator = () =>
    doctor('operator', {
      'bootstrap.servers': server.restricted,
      ...loginOf(USER),
      'worker.group.id': 'connect-cluster',
    })

  it('has no problem with the ACLs of docs/acls.md', async () => {
    await server.acls.grant(USER, [...REGISTRY, ...WORKER])
    for (const examine of [registry, worker, operator]) {
      const { code, findings } = await examine()
      expect(findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
      expect(code).toBe(0)
    }
  })

  it('names every missing right, with a command that grants it', async () => {
    const before = await operator()
    expect(before.code).toBe(1)
    const missing = before.findings.filter(({ verdict }) => verdict !== 'ok')
    expect(missing.map(({ check }) => check)).toEqual([
      'rights of the registry on topic _schemas',
      'rights of the registry on group schema-registry',
      'rights of the registry on transactional id schema-registry-_schemas-leader',
      'rights of the registry on topic _dek_registry_keys',
      'rights of the worker on group connect-cluster',
      ...['configs', 'offsets', 'status'].map((kind) => `rights of the worker on topic connect-${kind}`),
    ])
    await server.acls.grant(
      USER,
      missing.flatMap(({ remedy = '' }) => aclsIn(remedy)),
    )
    const after = await operator()
    expect(after.findings.filter(({ verdict }) => verdict !== 'ok')).toEqual([])
    expect(after.code).toBe(0)
  })

  it('names each right when it alone is missing', async () => {
    const config = { 'bootstrap.servers': server.restricted, ...loginOf(USER) }
    const broker = await openBroker({ kind: 'kafka', config }, { logger: silentLogger() })
    onTestFinished(() => broker.close())
    const all = [...REGISTRY, ...WORKER]
    await server.acls.grant(USER, all)
    for (const removed of all.filter(({ operation }) => operation !== 'CREATE')) {
      await server.acls.revoke(USER, [removed])
      const program = REGISTRY.includes(removed) ? 'registry' : 'worker'
      const acls = program === 'registry' ? REGISTRY : WORKER
      const { findings } = await checkProgramRights(broker, { program, acls }, config)
      const { operation, resourceType, resourceName, without } = removed
      expect(findings, formatRight(removed)).toEqual([
        {
          check: `rights of the ${program} on ${resourceType} ${resourceName}`,
          verdict: without === undefined ? 'problem' : 'warning',
          message: expect.stringMatching(new RegExp(`^${operation} .* is missing: `)),
          remedy: expect.any(String),
        },
      ])
      expect(aclsIn(findings[0]!.remedy!)).toEqual([{ operation, resourceType, resourceName }])
      await server.acls.grant(USER, [removed])
    }
  })

  it('names CREATE only for a topic that does not exist', async () => {
    const topic = { resourceType: 'topic', resourceName: 'schemas-new' } as const
    const rights = REGISTRY.filter(({ operation }) => operation !== 'CREATE')
    const own = rights.filter(({ resourceName }) => resourceName === '_schemas').map((acl) => ({ ...acl, ...topic }))
    const leader = {
      ...rights.find(({ resourceType }) => resourceType === 'transactional id')!,
      resourceName: 'schema-registry-schemas-new-leader',
    }
    const describeCluster = { operation: 'DESCRIBE', resourceType: 'cluster' } as const
    await server.acls.grant(USER, [...rights, ...own, leader, describeCluster])
    const settings = { 'kafkastore.topic': 'schemas-new' }
    expect((await registry(settings)).findings.filter(({ verdict }) => verdict !== 'ok')).toMatchObject([
      { verdict: 'problem', message: expect.stringMatching(/^CREATE .* is missing: somebody has to create the topic/) },
    ])
    await server.acls.grant(USER, [{ operation: 'CREATE', resourceType: 'cluster' }])
    expect((await registry(settings)).code).toBe(0)
  })
})

/** The rights that a command of Kafka grants to the user. */
function aclsIn(command: string): readonly Acl[] {
  const [, principal, operations = '', option, resourceName = ''] =
    /--allow-principal (\S+)((?: --operation \w+)+) --(topic|group|transactional-id) (\S+)$/.exec(command) ?? []
  expect(principal).toBe(`User:${USER}`)
  const resourceType = option === 'transactional-id' ? 'transactional id' : (option as 'topic' | 'group')
  return [...operations.matchAll(/--operation (\w+)/g)].map(([, name = '']) => ({
    operation: name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase() as Acl['operation'],
    resourceType,
    resourceName,
  }))
}
