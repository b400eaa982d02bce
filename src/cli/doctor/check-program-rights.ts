import type { Broker } from '../../broker/broker.ts'
import { isDenied, type KafkaOperation, type RightState } from '../../broker/broker-error.ts'
import { parseJaasEntry } from '../../broker/kafka/jaas-entry.ts'
import type { CheckedProgram } from './checked-program.ts'
import type { DoctorFinding } from './doctor-finding.ts'
import type { DeclaredAcl } from './program-acls.ts'

type ClientConfig = Readonly<Record<string, string>>

export type RightsCheck = {
  readonly findings: readonly DoctorFinding[]
  /** Topics on which a right is missing, which says more than what a use of them would. */
  readonly deniedTopics: ReadonlySet<string>
}

/**
 * Compares the rights of a client with those that a program needs, before it needs them. `config`: the settings of the client, for the
 * line that grants what is missing.
 */
export async function checkProgramRights(
  broker: Pick<Broker, 'checkRights' | 'topics'>,
  { program, acls }: Pick<CheckedProgram, 'program' | 'acls'>,
  config: ClientConfig,
): Promise<RightsCheck> {
  const check = `rights of the ${program}`
  const states = await broker.checkRights(acls)
  if (states.every((state) => state === 'unknown')) {
    const message = 'are not known: the brokers do not report what a client may do'
    return { findings: [{ check, verdict: 'warning', message, remedy: PAGE_REMEDY }], deniedTopics: new Set() }
  }
  const checked = acls.map((acl, at): CheckedAcl => ({ acl, state: states[at] ?? 'unknown' }))
  const byResource = Map.groupBy(checked, ({ acl }) => `${acl.resourceType} ${acl.resourceName}`)
  const lacking = await Promise.all(
    [...byResource.values()].map(async (all) => {
      const left = await withoutNeedlessCreate(broker, all)
      return { resource: all[0]!.acl, finding: findingOf(program, left, config) }
    }),
  )
  const findings = lacking.flatMap(({ finding }) => finding ?? [])
  const denied = lacking.filter(({ resource, finding }) => finding !== undefined && resource.resourceType === 'topic')
  return {
    findings:
      findings.length > 0 ? findings : [{ check, verdict: 'ok', message: 'the client has those that it needs' }],
    deniedTopics: new Set(denied.map(({ resource }) => resource.resourceName ?? '')),
  }
}

type CheckedAcl = { readonly acl: DeclaredAcl; readonly state: RightState }

const PAGE_REMEDY = 'docs/acls.md lists the rights that each program needs'

/** A topic that exists need not be created. One that this client may not see may be missing. */
async function withoutNeedlessCreate(
  { topics }: Pick<Broker, 'topics'>,
  all: readonly CheckedAcl[],
): Promise<readonly CheckedAcl[]> {
  const create = all.find(({ acl, state }) => acl.operation === 'CREATE' && state !== 'granted')
  if (create === undefined) return all
  try {
    const topic = await topics.describe(create.acl.resourceName ?? '')
    return topic === undefined ? all : all.filter((one) => one !== create)
  } catch (error) {
    if (isDenied(error)) return all
    throw error
  }
}

/** Undefined if the program has what it needs on the resource. */
function findingOf(
  program: CheckedProgram['program'],
  all: readonly CheckedAcl[],
  config: ClientConfig,
): DoctorFinding | undefined {
  const missing = all.flatMap(({ acl, state }) => (state === 'missing' ? [acl] : []))
  const unknown = all.flatMap(({ acl, state }) => (state === 'unknown' ? [acl] : []))
  const hasCreate = unknown.some(({ operation }) => operation === 'CREATE')
  const [{ resourceType, resourceName }] = [all[0]!.acl]
  const check = `rights of the ${program} on ${resourceType} ${resourceName}`
  if (missing.length === 0) {
    if (!hasCreate) return undefined
    const message =
      'CREATE may be missing: the topic does not exist, and the client may not list its rights on the cluster'
    return { check, verdict: 'warning', message, remedy: grantLine(unknown, config) }
  }
  const purposes = missing.map(({ operation, purpose }) => `${operation} (it ${purpose})`)
  const perhaps = unknown.length === 0 ? '' : `, and perhaps ${listOf(unknown.map(({ operation }) => operation))}`
  const isRequired = missing.some((acl) => isRequiredOf(acl, all))
  const without = missing.find((acl) => acl.without !== undefined && (!isRequired || missing.length === 1))?.without
  const [are, them] = missing.length === 1 ? ['is', 'it'] : ['are', 'them']
  const effect = without?.replaceAll('`', '') ?? `the ${program} does not work without ${them}`
  return {
    check,
    verdict: isRequired ? 'problem' : 'warning',
    message: `${listOf(purposes)}${perhaps} ${are} missing: ${effect}`,
    remedy: grantLine([...missing, ...unknown], config),
  }
}

/** A topic that the program needs has to be created by somebody. */
function isRequiredOf({ operation, without }: DeclaredAcl, all: readonly CheckedAcl[]): boolean {
  if (without === undefined) return true
  return operation === 'CREATE' && all.some(({ acl }) => acl.operation === 'READ' && acl.without === undefined)
}

/** The command of Kafka that grants rights on one resource. */
function grantLine(acls: readonly DeclaredAcl[], config: ClientConfig): string {
  const [{ resourceType, resourceName = '' } = { resourceType: 'cluster' as const }] = acls
  const { 'bootstrap.servers': bootstrap = 'HOST:PORT', 'security.protocol': protocol = 'PLAINTEXT' } = config
  return [
    'kafka-acls.sh --bootstrap-server',
    quoted(bootstrap.split(',')[0]!.trim()),
    ...(protocol.trim().toUpperCase() === 'PLAINTEXT' ? [] : ['--command-config ADMIN.properties']),
    '--add --allow-principal',
    quoted(principalOf(config)),
    ...acls.map(({ operation }) => `--operation ${nameInCommand(operation)}`),
    ...(resourceType === 'cluster' ? ['--cluster'] : [`--${resourceType.replaceAll(' ', '-')}`, quoted(resourceName)]),
  ].join(' ')
}

/** `DescribeConfigs` for DESCRIBE_CONFIGS. */
function nameInCommand(operation: KafkaOperation): string {
  return operation.replaceAll(/([A-Z])([A-Z]*)_?/g, (_, first: string, rest: string) => first + rest.toLowerCase())
}

/** The name by which ACLs know the client. That of a certificate or a token is up to the brokers. */
function principalOf({ 'sasl.jaas.config': jaas, 'security.protocol': protocol = 'PLAINTEXT' }: ClientConfig): string {
  const { username } = parseJaasEntry(jaas).options
  if (username) return `User:${username}`
  return protocol.trim().toUpperCase() === 'PLAINTEXT' ? 'User:ANONYMOUS' : 'User:NAME'
}

function quoted(word: string): string {
  return /^[\w.:@%+=,/[\]-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** `a, b and c` */
function listOf(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`
}
