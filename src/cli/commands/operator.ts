import { createLogger, type Logger } from '../../common/logging/logger.ts'
import { createMetrics } from '../../common/metrics-registry.ts'
import type { Setting } from '../../config/settings.ts'
import { settingsFromEnvironment } from '../../config/settings-sources.ts'
import { isWildcardAddress, parseListener } from '../../http/listener-address.ts'
import { type OperatorOptions, readConfiguration, startOperator } from '../../operator/main.ts'
import {
  KAFKA_REFERENCE_HELP,
  KAFKA_REFERENCE_OPTIONS,
  stackBrokerAddress,
  withReferencedKafka,
} from '../broker-flags.ts'
import { type Command, type ExitCode, parseArguments, parsePort, UsageError } from '../command.ts'
import { parseGracePeriod, runProgram } from '../process/run-program.ts'
import { PROGRAM_HELP, PROGRAM_OPTIONS, readProgramSettings, settingsOfProgram } from '../program-options.ts'
import { type RuntimeOptions, startStack } from '../start-stack.ts'

const OPTIONS = {
  ...PROGRAM_OPTIONS,
  ...KAFKA_REFERENCE_OPTIONS,
  kubeconfig: { type: 'string' },
  namespace: { type: 'string', multiple: true },
  'lease-namespace': { type: 'string' },
  secrets: { type: 'boolean', default: false },
  registry: { type: 'string' },
  worker: { type: 'string' },
  'registry-port': { type: 'string', default: '8081' },
  'worker-port': { type: 'string', default: '8083' },
  monitoring: { type: 'string', default: 'http://127.0.0.1:8080' },
  console: { type: 'string' },
  'console-certificates': { type: 'string' },
  'console-anonymous': { type: 'boolean', default: false },
  webhook: { type: 'string' },
  'webhook-service': { type: 'string' },
  'webhook-certificates': { type: 'string' },
} as const

export const operatorCommand: Command = {
  help: `usage: weir operator (--bootstrap HOST:PORT,… | --kafka-ref NAMESPACE/NAME | --data DIR | --registry URL --worker URL | --config FILE.yaml)

Reconciles the Connectors, Subjects and RegistryModes of a Kubernetes cluster. Runs a registry and a worker in its own
process unless their URLs are given. The CRDs must be installed: weir crds | kubectl apply --server-side -f -

  --kubeconfig FILE       default: kubectl's kubeconfig, or the service account of the pod
  --namespace NAME        namespace to watch; may be repeated; default: all
  --lease-namespace NAME  namespace of the Lease for leader election; default: that of the kubeconfig or the pod
  --secrets               restart connectors when a Secret that they reference changes; needs the privilege
  --registry URL          an existing registry, Confluent's or Weir's
  --worker URL            an existing worker, Kafka Connect's or Weir's
  --registry-port N       port of the registry in this process; default 8081
  --worker-port N         port of the worker in this process; default 8083
  --monitoring LISTENER   listener of /metrics, /healthz and /readyz; default: http://127.0.0.1:8080
  --console LISTENER      serve the console of all runtimes at http://HOST:PORT/ui or https:; default: none
  --console-certificates DIR   tls.crt and tls.key, for https
  --console-anonymous     do not ask users of the console for a Kubernetes token: everybody who reaches it sees all resources
  --webhook LISTENER      validate resources at admission, listening at https://HOST:PORT; default: no webhook
  --webhook-service NAMESPACE/NAME   Service of the webhook; default: the API server calls LISTENER directly
  --webhook-certificates DIR         tls.crt, tls.key and ca.crt; default: self-signed, kept in the Secret weir-webhook
${PROGRAM_HELP}
${KAFKA_REFERENCE_HELP}

A --config file that ends in .yaml configures several workers and registries, and the namespaces that may use them. The file
and the password and certificate files that it names are read again when they change.

Settings with the prefix registry. or worker. apply to that program, others to Kafka's clients. Settings are also read from
environment variables WEIR_SET_… with _ for each dot; use those for passwords, which must not appear among arguments.

  weir operator --kubeconfig ~/.kube/config --bootstrap 127.0.0.1:9092
  weir operator --registry http://registry:8081 --worker http://connect:8083`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length > 0)
      throw new UsageError(`weir operator takes no arguments: '${positionals[0]}' is unexpected`)
    const logger = createLogger()
    return withReferencedKafka(values, logger, (found, settingsOfKafka) => runOperator(found, settingsOfKafka, logger))
  },
}

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

async function runOperator(values: Values, settingsOfKafka: readonly Setting[], logger: Logger): Promise<ExitCode> {
  const file = /\.ya?ml$/.test(values.config ?? '') ? values.config : undefined
  const environment = settingsFromEnvironment('WEIR_SET', process.env)
  const written = readProgramSettings(file === undefined ? values : { ...values, config: undefined }, environment)
  const settings = [...settingsOfKafka, ...written]
  const configuration = file === undefined ? undefined : readConfiguration(file)
  const runtime = (program: 'registry' | 'worker'): RuntimeOptions => {
    const url = values[program]
    if (url !== undefined) return { url: parseUrl(`--${program}`, url) }
    const port = parsePort(`--${program}-port`, values[`${program}-port`])
    return { port, settings: settingsOfProgram(program, settings) }
  }
  const { instance, watchNamespaces = [] } = configuration ?? {}
  const cluster: OperatorOptions['cluster'] = {
    kind: 'kubernetes',
    namespaces: values.namespace ?? watchNamespaces,
    watchesSecrets: values.secrets,
    ...(values.kubeconfig !== undefined && { kubeconfig: values.kubeconfig }),
    ...(values['lease-namespace'] !== undefined && { leaseNamespace: values['lease-namespace'] }),
  }
  const consoleOptions = consoleOf(values)
  const own = { ...webhookOf(values), ...(instance !== undefined && { instance }) }
  const runtimesConfig = file === undefined ? {} : { runtimesConfig: () => readConfiguration(file).runtimesConfig }
  const log = stackBrokerAddress(values, settings)
  const gracePeriodMs = parseGracePeriod(values['grace-period'])
  const isAlone = log === undefined && values.registry === undefined && values.worker === undefined
  const start = (fail: (error: Error) => void) =>
    isAlone && runtimesConfig.runtimesConfig !== undefined
      ? startOperator({
          ...{ ...own, ...consoleOptions, runtimesConfig: runtimesConfig.runtimesConfig, cluster, logger },
          monitoring: { metrics: createMetrics(), listener: values.monitoring },
        })
      : startStack({
          ...{ ...runtimesConfig, cluster, brokerAddress: log, logger, operator: own, monitoring: values.monitoring },
          ...consoleOptions,
          registry: runtime('registry'),
          worker: runtime('worker'),
          onFailed: fail,
        })
  return runProgram({ logger, gracePeriodMs, start })
}

function webhookOf(values: Values): Pick<OperatorOptions, 'webhook'> {
  const { webhook: listener, 'webhook-service': service, 'webhook-certificates': certificates } = values
  if (listener === undefined) {
    if (service === undefined && certificates === undefined) return {}
    throw new UsageError('--webhook is missing: give --webhook https://HOST:PORT, such as https://0.0.0.0:9443')
  }
  const { scheme, host } = parseListener(listener)
  if (scheme !== 'https')
    throw new UsageError(
      `--webhook ${listener}: expected https://HOST:PORT, because the API server calls webhooks by HTTPS only`,
    )
  if (service === undefined && isWildcardAddress(host))
    throw new UsageError(
      `--webhook ${listener} listens on all addresses, so the API server needs a name to call: add --webhook-service NAMESPACE/NAME`,
    )
  return {
    webhook: {
      listener,
      ...(service !== undefined && { service: parseService(service) }),
      ...(certificates !== undefined && { certificates }),
    },
  }
}

function consoleOf(values: Values): Pick<OperatorOptions, 'console'> {
  const { console: listener, 'console-anonymous': isAnonymous, 'console-certificates': certificates } = values
  if (listener === undefined) {
    if (isAnonymous || certificates !== undefined)
      throw new UsageError('--console is missing: give --console http://127.0.0.1:8082')
    return {}
  }
  if ((parseListener(listener).scheme === 'https') !== (certificates !== undefined))
    throw new UsageError(
      `--console ${listener}: https needs --console-certificates DIR with tls.crt and tls.key, and http has none`,
    )
  return { console: { listener, isAnonymous, ...(certificates !== undefined && { certificates }) } }
}

function parseService(text: string): { readonly namespace: string; readonly name: string } {
  const [, namespace, name] = /^([a-z0-9-]+)\/([a-z0-9-]+)$/.exec(text) ?? []
  if (namespace !== undefined && name !== undefined) return { namespace, name }
  throw new UsageError(`--webhook-service ${text}: expected the NAMESPACE/NAME of a Service, such as weir/weir-webhook`)
}

function parseUrl(option: string, text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/$/, '')
  throw new UsageError(`${option} ${text}: expected a URL, such as http://127.0.0.1:8081`)
}
