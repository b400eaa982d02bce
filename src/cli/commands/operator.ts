import { createLogger } from '../../config/logger.ts'
import { createMetrics } from '../../config/metrics.ts'
import { settingsFromEnvironment } from '../../config/settings-sources.ts'
import { isWildcardAddress, parseListener } from '../../http/listener.ts'
import { type OperatorOptions, readConfiguration, startOperator } from '../../operator/main.ts'
import {
  PROGRAM_HELP,
  PROGRAM_OPTIONS,
  readSettings,
  settingsOfProgram,
  stackBrokerAddress,
} from '../broker-options.ts'
import { type Command, parseArguments, parsePort, UsageError } from '../command.ts'
import { parseGracePeriod, runProgram } from '../process/program.ts'
import { type RuntimeOptions, startStack } from '../stack.ts'

const OPTIONS = {
  ...PROGRAM_OPTIONS,
  kubeconfig: { type: 'string' },
  namespace: { type: 'string', multiple: true },
  'lease-namespace': { type: 'string' },
  secrets: { type: 'boolean', default: false },
  registry: { type: 'string' },
  worker: { type: 'string' },
  'registry-port': { type: 'string', default: '8081' },
  'worker-port': { type: 'string', default: '8083' },
  monitoring: { type: 'string', default: 'http://127.0.0.1:8080' },
  webhook: { type: 'string' },
  'webhook-service': { type: 'string' },
  'webhook-certificates': { type: 'string' },
} as const

export const operatorCommand: Command = {
  help: `usage: weir operator (--bootstrap HOST:PORT,… | --data DIR | --registry URL --worker URL | --config FILE.yaml)

Keeps the Connectors, Subjects and RegistryModes of a Kubernetes cluster. Runs a registry and a worker beside itself,
unless it is told where they are. Their definitions have to be there: weir crds | kubectl apply --server-side -f -

  --kubeconfig FILE       default: where kubectl looks, or the pod this runs in
  --namespace NAME        only this one; may be given several times; default: all
  --lease-namespace NAME  of the lease that says which of several operators acts; default: the kubeconfig's, or the pod's
  --secrets               restarts connectors when a Secret changes that their values come from; it has to be granted
  --registry URL          a registry that runs already, Confluent's or ours
  --worker URL            a worker that runs already, Kafka Connect's or ours
  --registry-port N       of the one beside it; default 8081
  --worker-port N         of the one beside it; default 8083
  --monitoring LISTENER   where /metrics, /healthz and /readyz answer; default: http://127.0.0.1:8080
  --webhook LISTENER      judges what is declared before it is stored, at https://HOST:PORT; default: it does not
  --webhook-service NAMESPACE/NAME   the Service that leads there; default: the API server calls LISTENER itself
  --webhook-certificates DIR         tls.crt, tls.key and ca.crt; default: it makes its own, in the Secret weir-webhook
${PROGRAM_HELP}

A configuration whose name ends in .yaml names workers and registries, and who may use them. It is read again when it
changes, and so are the files of passwords and certificates that it names.

Settings begin with the name of who they are for, registry. or worker.; others are for Kafka's clients. They may also stand
in the environment, as WEIR_SET_… with _ for each dot: a password has no place among arguments.

  weir operator --kubeconfig ~/.kube/config --bootstrap 127.0.0.1:9092
  weir operator --registry http://registry:8081 --worker http://connect:8083`,

  async run(args) {
    const { values, positionals } = parseArguments(args, OPTIONS)
    if (positionals.length > 0) throw new UsageError(`weir operator takes options only, not '${positionals[0]}'`)
    const file = /\.ya?ml$/.test(values.config ?? '') ? values.config : undefined
    const environment = settingsFromEnvironment('WEIR_SET', process.env)
    const settings = readSettings(file === undefined ? values : { ...values, config: undefined }, environment)
    const configuration = file === undefined ? undefined : readConfiguration(file)
    const runtime = (program: 'registry' | 'worker'): RuntimeOptions => {
      const url = values[program]
      if (url !== undefined) return { url: parseUrl(`--${program}`, url) }
      const port = parsePort(`--${program}-port`, values[`${program}-port`])
      return { port, written: settingsOfProgram(program, settings) }
    }
    const { instance, watchNamespaces = [] } = configuration ?? {}
    const logger = createLogger()
    const cluster: OperatorOptions['cluster'] = {
      kind: 'kubernetes',
      namespaces: values.namespace ?? watchNamespaces,
      watchesSecrets: values.secrets,
      ...(values.kubeconfig !== undefined && { kubeconfig: values.kubeconfig }),
      ...(values['lease-namespace'] !== undefined && { leaseNamespace: values['lease-namespace'] }),
    }
    const own = { ...webhookOf(values), ...(instance !== undefined && { instance }) }
    const estate = file === undefined ? {} : { estate: () => readConfiguration(file).estate }
    const log = stackBrokerAddress(values, settings)
    const gracePeriodMs = parseGracePeriod(values['grace-period'])
    const isAlone = log === undefined && values.registry === undefined && values.worker === undefined
    const start = (fail: (error: Error) => void) =>
      isAlone && estate.estate !== undefined
        ? startOperator({
            ...{ ...own, estate: estate.estate, cluster, logger },
            monitoring: { metrics: createMetrics(), listener: values.monitoring },
          })
        : startStack({
            ...{ ...estate, cluster, brokerAddress: log, logger, operator: own, monitoring: values.monitoring },
            registry: runtime('registry'),
            worker: runtime('worker'),
            onFailed: fail,
          })
    return runProgram({ logger, gracePeriodMs, start })
  },
}

type Values = ReturnType<typeof parseArguments<typeof OPTIONS>>['values']

function webhookOf(values: Values): Pick<OperatorOptions, 'webhook'> {
  const { webhook: listener, 'webhook-service': service, 'webhook-certificates': certificates } = values
  if (listener === undefined) {
    if (service === undefined && certificates === undefined) return {}
    throw new UsageError('where is the webhook to listen? --webhook https://HOST:PORT, such as https://0.0.0.0:9443')
  }
  const { scheme, host } = parseListener(listener)
  if (scheme !== 'https')
    throw new UsageError(`--webhook ${listener}: expected https://HOST:PORT, since the API server calls nothing else`)
  if (service === undefined && isWildcardAddress(host))
    throw new UsageError(
      `--webhook ${listener} has no host that the API server could call: add --webhook-service NAMESPACE/NAME`,
    )
  return {
    webhook: {
      listener,
      ...(service !== undefined && { service: parseService(service) }),
      ...(certificates !== undefined && { certificates }),
    },
  }
}

function parseService(text: string): { readonly namespace: string; readonly name: string } {
  const [, namespace, name] = /^([a-z0-9-]+)\/([a-z0-9-]+)$/.exec(text) ?? []
  if (namespace !== undefined && name !== undefined) return { namespace, name }
  throw new UsageError(`--webhook-service ${text}: expected NAMESPACE/NAME of a Service, such as weir/weir-webhook`)
}

function parseUrl(option: string, text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/$/, '')
  throw new UsageError(`${option} ${text}: expected a URL, such as http://127.0.0.1:8081`)
}
