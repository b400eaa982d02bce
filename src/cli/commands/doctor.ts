import type { Broker } from '../../broker/broker.ts'
import type { BrokerAddress } from '../../broker/broker-address.ts'
import { openBroker } from '../../broker/open-broker.ts'
import { systemClock } from '../../common/clock.ts'
import { messageOf } from '../../common/errors.ts'
import { silentLogger } from '../../common/logging/logger.ts'
import { packageVersion } from '../../common/package-version.ts'
import { type Command, parseArguments, UsageError } from '../command.ts'
import { checkStateTopics } from '../doctor/check-broker.ts'
import { checkCluster } from '../doctor/check-cluster.ts'
import { checkDisk, freeSpaceOf } from '../doctor/check-disk.ts'
import { checkProgramRights } from '../doctor/check-program-rights.ts'
import { checkRuntime } from '../doctor/check-runtime.ts'
import type { CheckedProgram } from '../doctor/checked-program.ts'
import { type DoctorFinding, doctorText } from '../doctor/doctor-finding.ts'
import { clientTarget, type KafkaTarget, namesBroker, programTarget, stackTarget } from '../doctor/kafka-target.ts'
import { PROGRAM_OPTIONS } from '../program-options.ts'
import type { RunningStack } from '../running-stack.ts'
import { CONNECTION_HELP, CONNECTION_OPTIONS, endpointOf } from '../runtime-connection.ts'
import { nearestStack, resolveTarget, stackOf } from '../target.ts'

const OPTIONS = {
  ...CONNECTION_OPTIONS,
  config: PROGRAM_OPTIONS.config,
  set: PROGRAM_OPTIONS.set,
  bootstrap: PROGRAM_OPTIONS.bootstrap,
  data: PROGRAM_OPTIONS.data,
  worker: { type: 'string' },
  registry: { type: 'string' },
  program: { type: 'string' },
  context: { type: 'string' },
  kubeconfig: { type: 'string' },
  namespace: { type: 'string', short: 'n' },
  output: { type: 'string', short: 'o', default: 'text' },
} as const
type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

export const doctorCommand: Command = {
  help: `usage: weir doctor [--worker URL] [--registry URL] [--bootstrap HOST:PORT,… | --data DIR] [--program NAME] [--config FILE] [--context NAME]

Checks what connectors and schemas depend on, and says what to do: the version of Node.js and of the running programs; that
the broker responds and the topics of the programs may be read and are compacted; that Kafka's ACLs permit the client what the programs
need, and the command that grants what is missing; that registry and worker respond and use the same Kafka cluster; failed connectors;
clocks; certificates that expire; disk space for an embedded broker; in Kubernetes, the API server, the definitions, the
operator and the resources. It writes nothing. Without options it checks the running weir up of
this directory.

  --worker URL            a worker
  --registry URL          a registry
  --bootstrap HOST:PORT,… Kafka brokers
  --data DIR              the data of a running weir up
  --program NAME          the program whose settings are given: registry, worker, or operator (both in one process, as in weir
                          up); default: those of Kafka's clients, and the topics and rights of a registry and a worker are checked
  --config FILE           settings of that program, which also name its brokers and its user (.properties); --set KEY=VALUE sets one
  --context NAME          a context of the kubeconfig: definitions, operator and resources in Kubernetes
  --kubeconfig FILE       the same, by this kubeconfig
  -n, --namespace NAME    namespace of the operator; default: that of the context
  -o, --output FORMAT     text or json; default: text
${CONNECTION_HELP}

Exit codes: 0 no problems, 1 a problem, 2 wrong usage.

  weir doctor
  weir doctor --program worker --config worker.properties
  weir doctor --bootstrap 127.0.0.1:9092 --worker http://127.0.0.1:8083 -o json`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length > 0)
      throw new UsageError(`weir doctor takes no arguments: '${positionals[0]}' is unexpected`)
    if (values.output !== 'text' && values.output !== 'json')
      throw new UsageError(`-o ${values.output}: expected text or json`)
    const findings = await examine(values)
    process.stdout.write(
      `${values.output === 'json' ? JSON.stringify(findings, undefined, 2) : doctorText(findings)}\n`,
    )
    return findings.some(({ verdict }) => verdict === 'problem') ? 1 : 0
  },
}

async function examine(values: Values): Promise<readonly DoctorFinding[]> {
  const stack = checkedStack(values)
  const urls = { worker: values.worker ?? stack?.workerUrl, registry: values.registry ?? stack?.registryUrl }
  const kafka =
    stack !== undefined
      ? stackTarget(values)
      : values.program !== undefined
        ? await programTarget(values)
        : clientTarget(values)
  const cluster = await clusterOf(values)
  const [{ clusterId, findings: broker }, worker, registry, kubernetes] = await Promise.all([
    kafka ? examineBroker(kafka) : { clusterId: undefined, findings: [] },
    urls.worker && checkRuntime('worker', endpointOf('--worker', urls.worker, values), systemClock),
    urls.registry && checkRuntime('registry', endpointOf('--registry', urls.registry, values), systemClock),
    cluster ? checkCluster(cluster, systemClock).finally(() => cluster.api.close()) : [],
  ])
  const other = worker && worker.clusterId !== undefined && clusterId !== undefined && worker.clusterId !== clusterId
  return [
    ...versionsOf(stack),
    ...kubernetes,
    ...broker,
    ...(registry ? registry.findings : []),
    ...(worker ? worker.findings : []),
    ...(other ? [otherCluster(worker.clusterId, clusterId)] : []),
    ...(stack?.broker.kind === 'process' ? [checkDisk(stack.directory, freeSpaceOf(stack.directory))] : []),
  ]
}

/** The running `weir up`, unless options name everything. Throws a `UsageError` when there is nothing to check. */
function checkedStack(values: Values): RunningStack | undefined {
  const { worker, registry, data, program, context, kubeconfig } = values
  if (data !== undefined && program !== undefined)
    throw new UsageError('--data names a running weir up, and --program another program: give one of them')
  if (data !== undefined) return stackOf(data, `weir data verify ${data} checks data that no program uses`)
  const others = [worker, registry, program, context, kubeconfig]
  if (others.some((given) => given !== undefined) || namesBroker(values)) return undefined
  return nearestStack(
    'give --worker URL, --registry URL, --bootstrap HOST:PORT, --context NAME or --program NAME --config FILE',
  )
}

/** Undefined unless options name a cluster. Throws a `UsageError`. */
async function clusterOf({ context, kubeconfig, namespace }: Values) {
  if (context === undefined && kubeconfig === undefined && namespace === undefined) return undefined
  const target = await resolveTarget({ context, kubeconfig, namespace })
  return target.kind === 'kubernetes' ? target : undefined
}

function versionsOf(stack: RunningStack | undefined): readonly DoctorFinding[] {
  const own: DoctorFinding = {
    check: 'version',
    verdict: 'ok',
    message: `weir ${packageVersion()} on Node.js ${process.version}`,
  }
  if (stack === undefined || stack.version === packageVersion()) return [own]
  const message = `weir up ${stack.manifests} is ${stack.version}, and this command is ${packageVersion()}`
  return [
    own,
    { check: 'version of weir up', verdict: 'warning', message, remedy: 'restart weir up with this version' },
  ]
}

function otherCluster(worker: string | undefined, broker: string): DoctorFinding {
  return {
    check: 'Kafka cluster',
    verdict: 'problem',
    message: `the worker uses the cluster ${worker}, and the brokers belong to ${broker}`,
    remedy: 'correct bootstrap.servers of the worker, or --bootstrap of this command',
  }
}

async function examineBroker({ address, programs }: KafkaTarget) {
  let broker: Broker | undefined
  try {
    broker = await openBroker(address, { logger: silentLogger() })
    const clusterId = await broker.clusterId()
    const name = address.kind === 'kafka' ? `Kafka at ${address.config['bootstrap.servers']}` : 'the embedded broker'
    const responds: DoctorFinding = {
      check: 'broker',
      verdict: 'ok',
      message: `${name} responds, cluster ${clusterId}`,
    }
    const of = await Promise.all(programs.map((program) => examineProgram(broker!, address, program)))
    return { clusterId, findings: [responds, ...of.flat()] }
  } catch (error) {
    const remedy =
      'check that the brokers run and that address, TLS and login are right; docs/kafka.md has the settings of each service'
    return {
      clusterId: undefined,
      findings: [{ check: 'broker', verdict: 'problem', message: messageOf(error), remedy } as const],
    }
  } finally {
    await broker?.close()
  }
}

/** Only Kafka restricts clients by ACLs. */
async function examineProgram(broker: Broker, address: BrokerAddress, program: CheckedProgram) {
  const { findings, deniedTopics } =
    address.kind === 'kafka'
      ? await checkProgramRights(broker, program, address.config)
      : { findings: [], deniedTopics: new Set() }
  const topics = program.topics.filter(({ name }) => !deniedTopics.has(name))
  return [...findings, ...(await checkStateTopics(broker, topics))]
}
